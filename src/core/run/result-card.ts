import type { EnvCard, ItemScore } from '../contracts/index.ts';
import { exactInterval, type Interval } from '../stats/index.ts';
import { defined } from '../text/index.ts';
import type { RunState } from './run-state.ts';

/** A score on tasks of a benchmark, with what others need to repeat it and to doubt it. */
export type ResultCard = EnvCard & {
  /** How many tasks have a score. */
  readonly n: number;
  /** How many more were attempted and have none, where that is counted. */
  readonly unscored?: number;
  /** The share of tasks that were solved. */
  readonly hard: number;
  /** 95 %: what other tasks of this kind might give. */
  readonly interval: Interval;
  /** How often these test tasks were looked at. */
  readonly testLooks: number | null;
};

/** Of a pass over tasks. Nothing where no task has a score. */
export function resultCard(
  card: EnvCard | undefined,
  scores: readonly ItemScore[],
  testLooks: number | undefined,
): ResultCard | undefined {
  const scored = scores.filter(({ errored }) => !errored);
  const solved = scored.reduce((sum, { hard }) => sum + hard, 0);
  const { length: n } = scored;
  return makeCard(card, { n, hard: solved / n, testLooks, unscored: scores.length - n });
}

/** Of the skill that a run ends with, on its test tasks. */
export function runCard({ card, tests, best: winner, initialSkill, testLooks }: RunState): ResultCard | undefined {
  const best = tests.best ?? (winner.skill === initialSkill ? tests.baseline : undefined);
  return best && makeCard(card, { n: best.n, hard: best.hard, testLooks });
}

type Measured = Pick<ResultCard, 'n' | 'hard' | 'unscored'> & { readonly testLooks: number | undefined };

function makeCard(card: EnvCard | undefined, { n, hard, testLooks, unscored }: Measured): ResultCard | undefined {
  if (card === undefined || n === 0) return undefined;
  return {
    ...card,
    n,
    ...defined({ unscored }),
    hard,
    interval: exactInterval(hard * n, n),
    testLooks: testLooks ?? null,
  };
}
