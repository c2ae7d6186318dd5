import type { Patch } from '../../core/document/index.ts';
import type { LeakCritic } from '../../core/guard/index.ts';
import type { Refusal } from '../../core/run/index.ts';

type Refused = { readonly patch: Patch; readonly refused?: readonly Refusal[]; readonly memorisedShare?: number };

/** The patch without what repeats single tasks of validation or test, and how much of the training tasks is left in it. */
export function refuseLeaks(patch: Patch, readForLeaks: LeakCritic): Refused {
  const refused: Refusal[] = [];
  const edits = patch.edits.filter(({ op, target, content }) => {
    const { reason, kind } = readForLeaks(content);
    if (reason !== undefined) refused.push({ op, target, content, reason, ...(kind === undefined ? {} : { kind }) });
    return reason === undefined;
  });
  const { memorisedShare } = readForLeaks(edits.map(({ content }) => content).join('\n\n'));
  return {
    patch: { ...patch, edits },
    ...(refused.length > 0 ? { refused } : {}),
    ...(memorisedShare > 0 ? { memorisedShare } : {}),
  };
}
