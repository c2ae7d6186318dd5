import { type Effect, oneChangePerson, RULE } from './one-change.ts';
import type { DocumentName } from './runner.ts';
import { RUNNERS } from './runners.ts';

export type FirstNightsInput = {
  readonly runner: string;
  readonly effect: Effect;
  readonly documents: readonly DocumentName[];
  /** Existing skills that tasks name. Default: one of our own. */
  readonly skills?: readonly string[] | undefined;
  readonly from: number;
  readonly seeds: number;
};

/** Of so many nights: in which something was staged, and the right thing; with all calls. */
export type FirstNights = { readonly staged: number; readonly right: number; readonly calls: number };

export async function countFirstNights(input: FirstNightsInput): Promise<FirstNights> {
  const { runner, effect, documents, skills, from, seeds } = input;
  const counts = { staged: 0, right: 0, calls: 0 };
  for (let seed = from; seed < from + seeds; seed++) {
    const person = oneChangePerson({ seed, effect, skills });
    const state = { blocks: { skill: '', memory: '' }, kept: undefined };
    const { staged, calls } = await RUNNERS[runner]!.run({ person, day: 1, state, documents, seed });
    counts.staged += staged.length > 0 ? 1 : 0;
    counts.right += staged.some(({ block }) => block.includes(RULE)) ? 1 : 0;
    counts.calls += calls;
  }
  return counts;
}
