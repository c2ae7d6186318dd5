import {
  addObservations,
  addWithin,
  type Evidence,
  estimateNoise,
  isBinary,
  itemMean,
  type NoiseModel,
  noEvidence,
  type Observation,
  type WithinItems,
  withinItems,
} from './evidence.ts';

/** What earlier skills left behind about an item, in rollouts' worth. */
export type Inherited = { readonly sum: number; readonly count: number };

export type Knowledge = {
  readonly own: Evidence;
  /** What is believed besides, from earlier skills: where it seems to change nothing, and where it was not rolled out. */
  readonly inherited: ReadonlyMap<string, Inherited>;
  readonly repeats: WithinItems;
};

export const noKnowledge: Knowledge = { own: noEvidence, inherited: new Map(), repeats: { squares: 0, freedom: 0 } };

export function addOwn(knowledge: Knowledge, observations: Iterable<Observation>): Knowledge {
  return { ...knowledge, own: addObservations(knowledge.own, observations) };
}

export function knownOf({ own, inherited }: Knowledge, id: string): Inherited {
  const [mine, before] = [own.get(id) ?? NOTHING, inherited.get(id) ?? NOTHING];
  return { sum: mine.sum + before.sum, count: mine.count + before.count };
}

const NOTHING: Inherited = { sum: 0, count: 0 };

/** Items without a rollout of the current skill. They may not decide before it has one. */
export const unmetItems = ({ own }: Knowledge, ids: readonly string[]): string[] => ids.filter((id) => !own.has(id));

const DIFFERENCE = 0.2;

/**
 * Items on which a candidate differs from the current skill, which has only one rollout there. Before a winner is taken the
 * current skill is rolled out there again, whichever is ahead: each may have been lucky once.
 */
export const disputedItems = ({ own }: Knowledge, observed: Evidence): string[] =>
  [...observed].flatMap(([id, seen]) => {
    const mine = own.get(id);
    const isDisputed = mine?.count === 1 && Math.abs(itemMean(seen) - mine.sum) > DIFFERENCE;
    return isDisputed ? [id] : [];
  });

export type WeighInput = {
  readonly knowledge: Knowledge;
  readonly observed: Evidence;
  readonly ids: readonly string[];
};

export type WeighedKnowledge = Weighed & { readonly noise: NoiseModel };

/** A candidate's rollouts beside what is known about the current skill, weighed by the noise that was seen. */
export function weigh({ knowledge, observed, ids }: WeighInput): WeighedKnowledge {
  const noise = noiseOf({ knowledge, observed, ids });
  const items = ids.map((id): WeighedItem => {
    const own = knowledge.own.get(id);
    const seen = observed.get(id) ?? NOTHING;
    const known = knownOf(knowledge, id);
    return { ...known, own: own && own.sum / own.count, seenSum: seen.sum, seenCount: seen.count };
  });
  return { ...weighCandidate(items, noise), noise };
}

function noiseOf({ knowledge, observed, ids }: WeighInput): NoiseModel {
  const now = [knowledge.own, observed].map(withinItems);
  const repeats = [knowledge.repeats, ...now].reduce(addWithin);
  const kind = isBinary(knowledge.own, observed) ? 'binary' : 'graded';
  return estimateNoise({ kind, repeats, items: ids.map((id) => knownOf(knowledge, id)) });
}

/** Bounds of the old knowledge that an item keeps, in rollouts' worth. */
const MOST_INHERITED = 4;
const LEAST_INHERITED = 0.3;

/**
 * What is known about a candidate that was taken: its own rollouts, and the older knowledge as far as it likely still holds.
 * Together they give the believed scores, which allow for the luck of a winner.
 */
export function inherit({ knowledge, observed, ids }: WeighInput): Knowledge {
  const { untouched, believed } = weigh({ knowledge, observed, ids });
  const inherited = ids.map((id, place): [string, Inherited] => {
    const { count } = knownOf(knowledge, id);
    const kept = observed.has(id)
      ? Math.max(LEAST_INHERITED, untouched[place]! * Math.min(MOST_INHERITED, count))
      : LEAST_INHERITED;
    return [id, completing(observed.get(id) ?? NOTHING, believed[place]!, kept)];
  });
  const repeats = addWithin(knowledge.repeats, withinItems(knowledge.own));
  return { own: observed, inherited: new Map(inherited), repeats };
}

/** So much that, with its own rollouts, the item has the believed score. */
function completing(own: Inherited, believed: number, count: number): Inherited {
  const sum = believed * (own.count + count) - own.sum;
  return { sum: Math.min(count, Math.max(0, sum)), count };
}

export function believedScore(knowledge: Knowledge, ids: readonly string[]): number {
  const known = ids.map((id) => knownOf(knowledge, id)).filter(({ count }) => count > 0);
  return known.reduce((sum, item) => sum + item.sum / item.count, 0) / Math.max(1, known.length);
}

export type WeighedItem = {
  /** What is known about the current skill: own rollouts, and inherited ones. */
  readonly sum: number;
  readonly count: number;
  readonly own: number | undefined;
  /** The candidate's rollouts; 0 for an item that it has not met. */
  readonly seenSum: number;
  readonly seenCount: number;
};

/** What is known about a candidate. Gains are sums over the items. */
export type Weighed = {
  /** The expected gain over all items, and its parts above and below 0. */
  readonly gain: number;
  readonly upside: number;
  readonly downside: number;
  readonly chance: number;
  /** Candidate less current skill, over the items that both were rolled out on. */
  readonly lead: number;
  /** Of each item: the chance that the change does not touch it, and the candidate's believed score. */
  readonly untouched: readonly number[];
  readonly believed: readonly number[];
};

/** The shares of the items that a change lifts and spoils, and the odds before anything was seen. */
type Hypothesis = { readonly lifted: number; readonly spoiled: number; readonly odds: number };

const SHARES = [0, 0.03, 0.08, 0.2, 0.4, 0.7];
const LIFTED_ODDS = [0.35, 0.2, 0.2, 0.15, 0.07, 0.03];
const SPOILED_ODDS = [0.6, 0.12, 0.12, 0.12, 0.03, 0.01];

const HYPOTHESES: readonly Hypothesis[] = SHARES.flatMap((lifted, i) =>
  SHARES.map((spoiled, j) => ({ lifted, spoiled, odds: LIFTED_ODDS[i]! * SPOILED_ODDS[j]! })),
).filter(({ lifted, spoiled }) => lifted + spoiled < 1);

/** How far a touched item goes towards 1 or 0 (further with less noise), and how many rollouts' worth that guess is. */
const REACH = 0.9;
const TOUCHED_STRENGTH = 6;

export function weighCandidate(items: readonly WeighedItem[], noise: NoiseModel): Weighed {
  const cases = items.map((item) => casesOf(item, noise));
  const met = cases.filter((_, place) => items[place]!.seenCount > 0);
  const odds = normalise(HYPOTHESES.map((hypothesis) => logOdds(hypothesis, met)));
  return { ...expect(cases, odds), lead: leadOf(items) };
}

type Case = { readonly likelihood: number; readonly score: number };
type Cases = { readonly before: number; readonly same: Case; readonly up: Case; readonly down: Case };

function casesOf({ sum, count, seenSum, seenCount }: WeighedItem, noise: NoiseModel): Cases {
  const strength = count + noise.pull;
  const before = (sum + noise.pull * noise.center) / strength;
  const seen = { sum: seenSum, count: seenCount };
  const reach = Math.max(REACH, 1 - 2 * noise.within);
  const likelihoodOf = noise.kind === 'binary' ? binaryLikelihood : gradedLikelihood(noise.within);
  const inCase = (rate: number, weight: number, room: number): Case => ({
    likelihood: likelihoodOf(seen, { rate, strength: weight, room }),
    score: (rate * weight + seenSum) / (weight + seenCount),
  });
  return {
    before,
    same: inCase(before, strength, 0),
    up: inCase(before + reach * (1 - before), TOUCHED_STRENGTH, 1 - before),
    down: inCase((1 - reach) * before, TOUCHED_STRENGTH, before),
  };
}

/** A rate, known as well as by so many rollouts. `room` is how far the item could have gone from where it was. */
type Guess = { readonly rate: number; readonly strength: number; readonly room: number };

/** No single item decides: its likelihood is never surer than this. */
const LEAST_LIKELIHOOD = 1e-9;

function binaryLikelihood({ sum, count }: Inherited, { rate, strength }: Guess): number {
  let likelihood = 1;
  for (let i = 0; i < sum; i++) likelihood *= rate * strength + i;
  for (let i = 0; i < count - sum; i++) likelihood *= (1 - rate) * strength + i;
  for (let i = 0; i < count; i++) likelihood /= strength + i;
  return Math.max(likelihood, LEAST_LIKELIHOOD);
}

/** A touched item with a graded score may stop anywhere on its way. */
function gradedLikelihood(within: number) {
  return ({ sum, count }: Inherited, { rate, strength, room }: Guess): number => {
    if (count === 0) return 1;
    const variance = within * (1 / count + 1 / strength) + (0.3 * room) ** 2 + 1e-4;
    const distance = sum / count - rate;
    return Math.max(Math.exp((-distance * distance) / (2 * variance)) / Math.sqrt(variance), LEAST_LIKELIHOOD);
  };
}

function logOdds(hypothesis: Hypothesis, met: readonly Cases[]): number {
  let log = Math.log(hypothesis.odds);
  for (const item of met) log += Math.log(sharesOf(item, hypothesis).total);
  return log;
}

function normalise(logs: readonly number[]): number[] {
  const most = Math.max(...logs);
  const weights = logs.map((log) => Math.exp(log - most));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

const NEGLIGIBLE = 1e-6; // less likely hypotheses change no figure

/** Items that were met count by their own odds, the others by the hypotheses alone. */
function expect(cases: readonly Cases[], odds: readonly number[]): Omit<Weighed, 'lead'> {
  const untouched = cases.map(() => 0);
  const believed = cases.map(() => 0);
  const sums = { gain: 0, upside: 0, downside: 0, chance: 0 };
  odds.forEach((weight, place) => {
    if (weight < NEGLIGIBLE) return;
    let gain = 0;
    cases.forEach((one, item) => {
      const { same, up, down, total } = sharesOf(one, HYPOTHESES[place]!);
      gain += (up * (one.up.score - one.before) + down * (one.down.score - one.before)) / total;
      untouched[item]! += (weight * same) / total;
      believed[item]! += (weight * (same * one.same.score + up * one.up.score + down * one.down.score)) / total;
    });
    sums.gain += weight * gain;
    if (gain > 0) sums.upside += weight * gain;
    else sums.downside -= weight * gain;
    if (gain > NEGLIGIBLE) sums.chance += weight;
  });
  return { ...sums, untouched, believed };
}

/** How likely each case of an item is under a hypothesis, all but for the factor `total`. */
function sharesOf(item: Cases, { lifted, spoiled }: Hypothesis) {
  const same = (1 - lifted - spoiled) * item.same.likelihood;
  const [up, down] = [lifted * item.up.likelihood, spoiled * item.down.likelihood];
  return { same, up, down, total: same + up + down };
}

function leadOf(items: readonly WeighedItem[]): number {
  const leads = items.map(({ own, seenSum, seenCount }) =>
    own === undefined || seenCount === 0 ? 0 : seenSum / seenCount - own,
  );
  return leads.reduce((sum, lead) => sum + lead, 0);
}
