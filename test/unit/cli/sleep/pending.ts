import { dirname, join } from 'node:path';
import { writeBlock } from '../../../../src/core/document/index.ts';
import { readDocument } from '../../../../src/skills/index.ts';
import { openSleepState, type Proposal, recordProposal, stage } from '../../../../src/sleep/index.ts';
import type { SleepHome } from '../../../support/sleep/sleep-home.ts';

type Pending = { readonly name: string; readonly night?: number; readonly rule?: string; readonly id?: string };

/** What a night would leave behind: a proposal for a document of the shop, which waits. A `SKILL.md` may be new. */
export async function propose(
  { shop, state }: SleepHome,
  { name, night = 1, rule = '- a rule', id }: Pending,
): Promise<Proposal> {
  await using open = await openSleepState(state);
  const isSkill = name.endsWith('SKILL.md');
  const live = await readDocument(join(shop, name), [shop]);
  const proposal = await stage({
    ...{ stateFolder: state, project: shop, night, live, roots: [shop], isNewAllowed: isSkill },
    id: id ?? String(night),
    document: isSkill ? { kind: 'skill', name: dirname(name).split('/').at(-1)! } : { kind: 'memory', name },
    text: writeBlock(live.bytes?.toString() ?? '', 'learned', rule),
    at: '2026-03-10T00:00:00.000Z',
    gain: { value: 0.042, low: 0.01, high: 0.08 },
    confidence: 0.975,
  });
  await open.update((before) => recordProposal(before, proposal));
  return proposal;
}
