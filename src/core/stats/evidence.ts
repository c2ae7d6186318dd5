/** What is known of one item under one skill: enough for its mean and its spread. Counts may be fractions after an accept. */
export type ItemEvidence = { readonly sum: number; readonly sumSquares: number; readonly count: number };

/** Item id → its rollouts under one skill. A journal holds the entries: `[...evidence]`, and `new Map(entries)` reads them. */
export type Evidence = ReadonlyMap<string, ItemEvidence>;

/** One scored rollout. `null`, NaN and infinite mean that there is no result; it is missing, which is not zero. */
export type Observation = { readonly id: string; readonly score: number | null };

/** Pooled squares about the items' own means, and how many of them are free. */
export type WithinItems = { readonly squares: number; readonly freedom: number };

/** More than this share without a result, and an evaluation says nothing. */
export const MAX_MISSING_SHARE = 0.2;

export const shareText = (share: number): string =>
  share === MAX_MISSING_SHARE ? 'a fifth' : `${Math.round(100 * share)} %`;

export const noEvidence: Evidence = new Map();

export function isMissing(score: number | null | undefined): score is null | undefined {
  return typeof score !== 'number' || !Number.isFinite(score);
}

/** New evidence with the observations in it. Missing results are left out. */
export function addObservations(evidence: Evidence, observations: Iterable<Observation>): Evidence {
  const pooled = new Map(evidence);
  for (const { id, score } of observations) {
    if (isMissing(score)) continue;
    const { sum, sumSquares, count } = pooled.get(id) ?? { sum: 0, sumSquares: 0, count: 0 };
    pooled.set(id, { sum: sum + score, sumSquares: sumSquares + score * score, count: count + 1 });
  }
  return pooled;
}

/** Share of the observations without a result; of none, 0. */
export function missingShare(observations: readonly Observation[]): number {
  if (observations.length === 0) return 0;
  return observations.filter(({ score }) => isMissing(score)).length / observations.length;
}

export function itemMean({ sum, count }: ItemEvidence): number {
  return sum / count;
}

/** Mean over the items, each with equal weight however often it was rolled. Nothing observed is `undefined`. */
export function pooledMean(evidence: Evidence): number | undefined {
  if (evidence.size === 0) return undefined;
  let total = 0;
  for (const item of evidence.values()) total += itemMean(item);
  return total / evidence.size;
}

/** Items with a single rollout tell nothing about their spread and do not count. */
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

/** A score is binary if every one seen so far is 0 or 1. Squares then equal scores, also after a merge. */
export function isBinary(...evidences: readonly Evidence[]): boolean {
  return evidences.every((evidence) => {
    for (const { sum, sumSquares } of evidence.values()) if (sum !== sumSquares) return false;
    return true;
  });
}
