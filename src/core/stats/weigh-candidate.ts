import type { NoiseModel } from './noise-model.ts';

/** An item as a candidate meets it. */
export type WeighedItem = {
  /** Sum and number of what is known of the current skill: own rollouts, and what it has inherited. */
  readonly sum: number;
  readonly count: number;
  /** Mean of the current skill's own rollouts, if there are any. */
  readonly own: number | undefined;
  /** Sum and number of the candidate's rollouts; 0 of an item that it has not met. */
  readonly seenSum: number;
  readonly seenCount: number;
};

/** What is known of a candidate. Gains are in items: the sum of what the items gain. */
export type Weighed = {
  /** What it is expected to gain over all items, and the parts of that expectation above and below 0. */
  readonly gain: number;
  readonly upside: number;
  readonly downside: number;
  /** The chance that it gains anything. */
  readonly chance: number;
  /** Candidate less current skill, over the items that both texts were rolled out on. */
  readonly lead: number;
  /** Of each item: the chance that the change does not touch it, and what the candidate is believed to score on it. */
  readonly untouched: readonly number[];
  readonly believed: readonly number[];
};

/** Share of the items that a change lifts and that it spoils, and the odds before anything was seen. */
type Hypothesis = { readonly lifted: number; readonly spoiled: number; readonly odds: number };

const SHARES = [0, 0.03, 0.08, 0.2, 0.4, 0.7];
const LIFTED_ODDS = [0.35, 0.2, 0.2, 0.15, 0.07, 0.03];
const SPOILED_ODDS = [0.6, 0.12, 0.12, 0.12, 0.03, 0.01];

/** Nothing, local and broad gains, harm, and both at once are hypotheses of their own. */
const HYPOTHESES: readonly Hypothesis[] = SHARES.flatMap((lifted, i) =>
  SHARES.map((spoiled, j) => ({ lifted, spoiled, odds: LIFTED_ODDS[i]! * SPOILED_ODDS[j]! })),
).filter(({ lifted, spoiled }) => lifted + spoiled < 1);

/** How far a touched item goes towards 1 or 0 (the further, the less noise was seen), and how many rollouts' worth that guess is. */
const REACH = 0.9;
const TOUCHED_STRENGTH = 6;
const reachOf = ({ within }: NoiseModel) => Math.max(REACH, 1 - 2 * within);

/** What some rollouts say of a candidate, beside the current skill. A function of its input alone. */
export function weighCandidate(items: readonly WeighedItem[], noise: NoiseModel): Weighed {
  const cases = items.map((item) => casesOf(item, noise));
  const met = cases.filter((_, place) => items[place]!.seenCount > 0);
  const odds = normalise(HYPOTHESES.map((hypothesis) => logOdds(hypothesis, met)));
  return { ...expect(cases, odds), lead: leadOf(items) };
}

/** Untouched, lifted or spoiled: how likely the candidate's rollouts then are, and the item's score given them. */
type Case = { readonly likelihood: number; readonly score: number };
type Cases = { readonly before: number; readonly same: Case; readonly up: Case; readonly down: Case };

function casesOf({ sum, count, seenSum, seenCount }: WeighedItem, noise: NoiseModel): Cases {
  const strength = count + noise.pull;
  const before = (sum + noise.pull * noise.center) / strength;
  const seen = { sum: seenSum, count: seenCount };
  const reach = reachOf(noise);
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

type Seen = { readonly sum: number; readonly count: number };
/** A rate, known as well as by so many rollouts; `room` is how far the item could have gone from where it was. */
type Guess = { readonly rate: number; readonly strength: number; readonly room: number };

/** No single item decides: neither it nor its likelihoods can be surer than that. */
const LEAST_LIKELIHOOD = 1e-9;

/** Chance of these passes and failures, one after the other. */
function binaryLikelihood({ sum, count }: Seen, { rate, strength }: Guess): number {
  let likelihood = 1;
  for (let i = 0; i < sum; i++) likelihood *= rate * strength + i;
  for (let i = 0; i < count - sum; i++) likelihood *= (1 - rate) * strength + i;
  for (let i = 0; i < count; i++) likelihood /= strength + i;
  return Math.max(likelihood, LEAST_LIKELIHOOD);
}

/** Where scores lie between 0 and 1 a touched item may stop anywhere on its way. */
function gradedLikelihood(within: number) {
  return ({ sum, count }: Seen, { rate, strength, room }: Guess): number => {
    if (count === 0) return 1;
    const variance = within * (1 / count + 1 / strength) + (0.3 * room) ** 2 + 1e-4;
    const distance = sum / count - rate;
    return Math.max(Math.exp((-distance * distance) / (2 * variance)) / Math.sqrt(variance), LEAST_LIKELIHOOD);
  };
}

function logOdds({ lifted, spoiled, odds }: Hypothesis, met: readonly Cases[]): number {
  let log = Math.log(odds);
  for (const { same, up, down } of met) {
    log += Math.log((1 - lifted - spoiled) * same.likelihood + lifted * up.likelihood + spoiled * down.likelihood);
  }
  return log;
}

function normalise(logs: readonly number[]): number[] {
  const most = Math.max(...logs);
  const weights = logs.map((log) => Math.exp(log - most));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Hypotheses less likely than this change no figure. */
const NEGLIGIBLE = 1e-6;

/** Items that were met count by their own odds, the others by the hypotheses' alone. */
function expect(cases: readonly Cases[], odds: readonly number[]): Omit<Weighed, 'lead'> {
  const untouched = cases.map(() => 0);
  const believed = cases.map(() => 0);
  const sums = { gain: 0, upside: 0, downside: 0, chance: 0 };
  for (const [place, weight] of odds.entries()) {
    if (weight < NEGLIGIBLE) continue;
    const { lifted, spoiled } = HYPOTHESES[place]!;
    let gain = 0;
    for (const [item, { before, same, up, down }] of cases.entries()) {
      const shares = [(1 - lifted - spoiled) * same.likelihood, lifted * up.likelihood, spoiled * down.likelihood];
      const total = shares[0]! + shares[1]! + shares[2]!;
      gain += (shares[1]! * (up.score - before) + shares[2]! * (down.score - before)) / total;
      untouched[item]! += (weight * shares[0]!) / total;
      believed[item]! += (weight * (shares[0]! * same.score + shares[1]! * up.score + shares[2]! * down.score)) / total;
    }
    sums.gain += weight * gain;
    if (gain > 0) sums.upside += weight * gain;
    else sums.downside -= weight * gain;
    if (gain > NEGLIGIBLE) sums.chance += weight;
  }
  return { ...sums, untouched, believed };
}

/** Like with like: only where both texts were rolled out. */
function leadOf(items: readonly WeighedItem[]): number {
  let lead = 0;
  for (const { own, seenSum, seenCount } of items) {
    if (own !== undefined && seenCount > 0) lead += seenSum / seenCount - own;
  }
  return lead;
}
