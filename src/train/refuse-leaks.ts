import type { SkillOptConfig } from '../core/config.ts';
import type { Patch, UpdateItem } from '../core/edit.ts';
import { findLeaks } from '../core/stats/leak-critic.ts';
import { guardedItems } from './guarded-items.ts';
import type { RunItems } from './run-items.ts';

/** An edit that gives held-out tasks away, with the reason. */
export type RefusedEdit = Pick<UpdateItem, 'op' | 'target' | 'content'> & { readonly reason: string };

type LeakSettings = Pick<SkillOptConfig, 'leakCritic' | 'maxMemorisedShare'>;

/** The patch without what repeats single tasks of validation or test. What the skill says already is no secret. */
export function refuseLeaks(
  patch: Patch,
  { items, skill, config }: { readonly items: RunItems; readonly skill: string; readonly config: LeakSettings },
): { readonly patch: Patch; readonly refused: readonly RefusedEdit[] } {
  if (!config.leakCritic || patch.edits.length === 0) return { patch, refused: [] };
  const limit = config.maxMemorisedShare === undefined ? {} : { maxMemorisedShare: config.maxMemorisedShare };
  const guarded = guardedItems(items);
  const refused: RefusedEdit[] = [];
  const edits = patch.edits.filter(({ op, target, content }) => {
    const { reason } = findLeaks({ edit: content, items: guarded, contract: [skill], ...limit });
    if (reason !== undefined) refused.push({ op, target, content, reason });
    return reason === undefined;
  });
  return { patch: { ...patch, edits }, refused };
}
