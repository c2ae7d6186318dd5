import { groupBy } from '../text/index.ts';
import {
  addObservations,
  isMissing,
  MAX_MISSING_SHARE,
  meanOf,
  noEvidence,
  type Observation,
  squaresAbout,
  withinItems,
} from './evidence.ts';

/** One judgement of one rollout. `position` is where the answer stood in pairwise judging. */
export type Judgement = {
  readonly id: string;
  readonly rollout: number;
  readonly position?: 'first' | 'second';
  /** `null`: the judge failed, which says nothing about the rollout. */
  readonly score: number | null;
};

export type JudgedScore = Observation & { readonly rollout: number; readonly judgements: number };

export type JudgeNoise = {
  /** One score per rollout; `null` without a judgement, or in pairwise judging without one in each position. */
  readonly scores: readonly JudgedScore[];
  /** Of one judgement about its rollout's score. `undefined` without a repeat, which may be in the other position. */
  readonly judgeVariance: number | undefined;
  /** Of a rollout's true score about its item's mean, without the judge's part. `undefined` without a repeat. */
  readonly rolloutVariance: number | undefined;
  /** How much more an answer gets in the first position. */
  readonly positionBias: number | undefined;
  readonly failedShare: number;
  readonly missingShare: number;
  readonly isInvalid: boolean;
};

/** Combines repeated and position-swapped judgements, and separates the judge's noise from the rollouts' own. */
export function combineJudgements(judgements: readonly Judgement[]): JudgeNoise {
  const rollouts = groupBy(judgements, ({ id, rollout }) => JSON.stringify([id, rollout]));
  const scores = rollouts.map(scoreOf);
  const judgeVariance = varianceWithin(rollouts) ?? varianceBetween(rollouts);
  const failed = judgements.filter(({ score }) => isMissing(score)).length;
  const missing = scores.filter(({ score }) => score === null).length;
  const missingShare = scores.length === 0 ? 0 : missing / scores.length;
  return {
    scores,
    judgeVariance,
    rolloutVariance: rolloutVariance(scores, judgeVariance ?? 0),
    positionBias: positionBias(rollouts),
    failedShare: failed / Math.max(1, judgements.length),
    missingShare,
    isInvalid: missingShare > MAX_MISSING_SHARE,
  };
}

/** Both positions weigh the same, so that a judge's preference for one of them cancels. One alone would pass it on as a score. */
function scoreOf(judgements: readonly Judgement[]): JudgedScore {
  const { id, rollout } = judgements[0]!;
  const positions = byPosition(judgements);
  const isPaired = judgements.some(({ position }) => position !== undefined);
  const isJudged = isPaired ? positions.has('first') && positions.has('second') : positions.size > 0;
  const valid = judgements.filter(({ score }) => !isMissing(score)).length;
  return { id, rollout, score: isJudged ? meanOf([...positions.values()].map(meanOf)) : null, judgements: valid };
}

function byPosition(judgements: readonly Judgement[]): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const { position = 'alone', score } of judgements) {
    if (!isMissing(score)) positions.set(position, [...(positions.get(position) ?? []), score as number]);
  }
  return positions;
}

function varianceWithin(rollouts: readonly Judgement[][]): number | undefined {
  let squares = 0;
  let freedom = 0;
  for (const scores of rollouts.flatMap((judgements) => [...byPosition(judgements).values()])) {
    squares += squaresAbout(scores, meanOf(scores));
    freedom += scores.length - 1;
  }
  return freedom > 0 ? squares / freedom : undefined;
}

/** Scores vary by the rollouts and by what is left of the judge's noise after averaging. */
function rolloutVariance(scores: readonly JudgedScore[], judgeVariance: number): number | undefined {
  const valid = scores.filter(({ score }) => score !== null);
  const { squares, freedom } = withinItems(addObservations(noEvidence, valid));
  if (freedom === 0) return undefined;
  const leftOver = meanOf(valid.map(({ judgements }) => judgeVariance / judgements));
  return Math.max(0, squares / freedom - leftOver);
}

/** A judgement in each position is a repeat too, without the bias. A difference of two varies twice as much as one. */
function varianceBetween(rollouts: readonly Judgement[][]): number | undefined {
  const differences = positionDifferences(rollouts);
  if (differences.length < 2) return undefined;
  return squaresAbout(differences, meanOf(differences)) / (differences.length - 1) / 2;
}

function positionBias(rollouts: readonly Judgement[][]): number | undefined {
  const differences = positionDifferences(rollouts);
  return differences.length === 0 ? undefined : meanOf(differences);
}

const positionDifferences = (rollouts: readonly Judgement[][]): number[] =>
  rollouts.flatMap((judgements) => {
    const positions = byPosition(judgements);
    const [first, second] = [positions.get('first'), positions.get('second')];
    return first && second ? [meanOf(first) - meanOf(second)] : [];
  });
