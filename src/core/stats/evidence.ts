/** The rollouts of one item under one skill. Counts may be fractions after an accept. */
export type ItemEvidence = { readonly sum: number; readonly sumSquares: number; readonly count: number };

/** Item id → its rollouts under one skill. A journal holds the entries, `[...evidence]`. */
export type Evidence = ReadonlyMap<string, ItemEvidence>;

/** One rollout. `null`, NaN and infinite scores are missing, which is not zero. */
export type Observation = { readonly id: string; readonly score: number | null };

/** Pooled squares about the items' own means, and their degrees of freedom. */
export type WithinItems = { readonly squares: number; readonly freedom: number };

/** With a larger share of missing results an evaluation says nothing. */
export const MAX_MISSING_SHARE = 0.2;

export const shareText = (share: number): string =>
  share === MAX_MISSING_SHARE ? 'a fifth' : `${Math.round(100 * share)} %`;

export const noEvidence: Evidence = new Map();

export const isMissing = (score: number | null | undefined): score is null | undefined =>
  typeof score !== 'number' || !Number.isFinite(score);

export function addObservations(evidence: Evidence, observations: Iterable<Observation>): Evidence {
  const pooled = new Map(evidence);
  for (const { id, score } of observations) {
    if (isMissing(score)) continue;
    const { sum, sumSquares, count } = pooled.get(id) ?? { sum: 0, sumSquares: 0, count: 0 };
    pooled.set(id, { sum: sum + score, sumSquares: sumSquares + score * score, count: count + 1 });
  }
  return pooled;
}

export function missingShare(observations: readonly Observation[]): number {
  if (observations.length === 0) return 0;
  return observations.filter(({ score }) => isMissing(score)).length / observations.length;
}

export const itemMean = ({ sum, count }: ItemEvidence): number => sum / count;

/** Mean over the items, each with equal weight. `undefined` if nothing was observed. */
export const pooledMean = (evidence: Evidence): number | undefined =>
  evidence.size === 0 ? undefined : meanOf([...evidence.values()].map(itemMean));

export function withinItems(evidence: Evidence): WithinItems {
  let squares = 0;
  let freedom = 0;
  for (const { sum, sumSquares, count } of evidence.values()) {
    if (count < 2) continue;
    squares += Math.max(0, sumSquares - (sum * sum) / count);
    freedom += count - 1;
  }
  return { squares, freedom };
}

export function addWithin(a: WithinItems, b: WithinItems): WithinItems {
  return { squares: a.squares + b.squares, freedom: a.freedom + b.freedom };
}

/** Variance of one rollout about its item's mean. `undefined` if no item was rolled twice. */
export function withinVariance(evidence: Evidence): number | undefined {
  const { squares, freedom } = withinItems(evidence);
  return freedom > 0 ? squares / freedom : undefined;
}

/** Whether every score so far is 0 or 1. Squares then equal scores, also after a merge. */
export const isBinary = (...evidences: readonly Evidence[]): boolean =>
  evidences.every((evidence) => [...evidence.values()].every(({ sum, sumSquares }) => sum === sumSquares));

/** `graded` also covers scores from a judge. */
export type ScoreKind = 'binary' | 'graded';

/** How much rollouts of one text differ on one item, and how much items differ from each other. */
export type NoiseModel = {
  readonly kind: ScoreKind;
  readonly center: number;
  readonly within: number;
  /** How many rollouts' worth of the mean of all items an item's own few rollouts are mixed with. */
  readonly pull: number;
};

export type NoiseInput = {
  readonly kind: ScoreKind;
  readonly items: Iterable<{ readonly sum: number; readonly count: number }>;
  readonly repeats: WithinItems;
};

/** The variance that is assumed until something was rolled out twice, and how many repeats it is worth. */
const USUAL_WITHIN: Readonly<Record<ScoreKind, number>> = { binary: 0.05, graded: 0.005 };
const USUAL_WEIGHT = 4;
const [LEAST_PULL, MOST_PULL] = [0.02, 4];

export function estimateNoise({ kind, items, repeats }: NoiseInput): NoiseModel {
  const within = (repeats.squares + USUAL_WEIGHT * USUAL_WITHIN[kind]) / (repeats.freedom + USUAL_WEIGHT);
  const means = [...items].flatMap(({ sum, count }) => (count > 0 ? [sum / count] : []));
  const center = means.length === 0 ? 0.5 : meanOf(means);
  const between = means.length > 1 ? squaresAbout(means, center) / (means.length - 1) : 0;
  const spread = kind === 'binary' ? center * (1 - center) - within : between - within / 2;
  const pull = spread <= within / MOST_PULL ? MOST_PULL : Math.max(LEAST_PULL, within / spread);
  return { kind, center, within, pull };
}

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export const squaresAbout = (values: readonly number[], center: number): number =>
  values.reduce((sum, value) => sum + (value - center) ** 2, 0);

/** The scores of the items that both sides have. */
export const pairsOf = (after: Evidence, before: Evidence) =>
  [...after].flatMap(([id, item]) => {
    const other = before.get(id);
    return other === undefined ? [] : [{ after: item, before: other, gain: itemMean(item) - itemMean(other) }];
  });
