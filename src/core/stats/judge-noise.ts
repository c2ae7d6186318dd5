import {
  addObservations,
  isMissing,
  MAX_MISSING_SHARE,
  noEvidence,
  type Observation,
  withinItems,
} from './evidence.ts';

/** One judgement of one rollout. In pairwise judging the answer stands first or second; otherwise leave `position` out. */
export type Judgement = {
  readonly id: string;
  readonly rollout: number;
  readonly position?: 'first' | 'second';
  /** `null`: the judge failed. That says nothing about the rollout. */
  readonly score: number | null;
};

export type JudgedScore = Observation & { readonly rollout: number; readonly judgements: number };

export type JudgeNoise = {
  /** One score per rollout; `null` if no judgement of it succeeded, or in pairwise judging those in one position alone. */
  readonly scores: readonly JudgedScore[];
  /** Of one judgement about its rollout's score. `undefined` without a repeat, be it in the other position. */
  readonly judgeVariance: number | undefined;
  /** Of a rollout's true score about its item's mean, the judge's part taken out. `undefined` without a repeat. */
  readonly rolloutVariance: number | undefined;
  /** How much more an answer gets for standing first. */
  readonly positionBias: number | undefined;
  /** Share of the judgements that failed. */
  readonly failedShare: number;
  /** Share of the rollouts without a score. */
  readonly missingShare: number;
  /** More than a fifth of the rollouts have no score. */
  readonly isInvalid: boolean;
};

/** Combines repeated and position-swapped judgements, and tells the judge's noise from the rollouts' own. */
export function combineJudgements(judgements: readonly Judgement[]): JudgeNoise {
  const rollouts = [...groupByRollout(judgements).values()];
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

function groupByRollout(judgements: readonly Judgement[]): Map<string, Judgement[]> {
  const groups = new Map<string, Judgement[]>();
  for (const judgement of judgements) {
    const key = JSON.stringify([judgement.id, judgement.rollout]);
    groups.set(key, [...(groups.get(key) ?? []), judgement]);
  }
  return groups;
}

/**
 * Both positions weigh the same however often each was judged, so that a judge's taste for one of them cancels. One alone
 * would pass that taste on as a score.
 */
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
    const mean = meanOf(scores);
    squares += scores.reduce((sum, score) => sum + (score - mean) ** 2, 0);
    freedom += scores.length - 1;
  }
  return freedom > 0 ? squares / freedom : undefined;
}

/** Rollouts' scores vary by the rollouts and by what is left of the judge's noise after averaging. */
function rolloutVariance(scores: readonly JudgedScore[], judgeVariance: number): number | undefined {
  const valid = scores.filter(({ score }) => score !== null);
  const { squares, freedom } = withinItems(addObservations(noEvidence, valid));
  if (freedom === 0) return undefined;
  const leftOver = meanOf(valid.map(({ judgements }) => judgeVariance / judgements));
  return Math.max(0, squares / freedom - leftOver);
}

/** A judgement in each position is a repeat too, once the bias is taken out. A difference of two varies twice as much as one. */
function varianceBetween(rollouts: readonly Judgement[][]): number | undefined {
  const differences = positionDifferences(rollouts);
  if (differences.length < 2) return undefined;
  const bias = meanOf(differences);
  const squares = differences.reduce((sum, difference) => sum + (difference - bias) ** 2, 0);
  return squares / (differences.length - 1) / 2;
}

function positionBias(rollouts: readonly Judgement[][]): number | undefined {
  const differences = positionDifferences(rollouts);
  return differences.length === 0 ? undefined : meanOf(differences);
}

function positionDifferences(rollouts: readonly Judgement[][]): number[] {
  return rollouts.flatMap((judgements) => {
    const positions = byPosition(judgements);
    const [first, second] = [positions.get('first'), positions.get('second')];
    return first && second ? [meanOf(first) - meanOf(second)] : [];
  });
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
