import { knowsNoise, SkillError, type SkillOptConfig } from '../../core/contracts/index.ts';
import { type Amounts, addUsage, type LimitName, noStageUsage, type RunState } from '../../core/run/index.ts';
import type { Held, LimitReached } from '../../models/index.ts';
import type { RunItems } from '../setup/run-items.ts';
import { fittedSize } from './validation-size.ts';

type Sizes = { readonly val: { readonly length: number }; readonly spare?: { readonly length: number } | undefined };

/** Two passes measure the winner, unless they would take more than an eighth of `maxRollouts`. */
export function finalPassesOf({ finalPasses, maxRollouts }: SkillOptConfig, { val }: Sizes): number {
  if (finalPasses !== undefined) return finalPasses;
  return maxRollouts !== undefined && 0.12 * maxRollouts < 3 * val.length ? 1 : 2;
}

/** Tasks of the seed's second pass, which measures the noise: all, unless that takes too much of `maxRollouts`. */
export function secondPassSize({ gate, maxRollouts: most = Number.POSITIVE_INFINITY }: SkillOptConfig, { val }: Sizes) {
  return knowsNoise(gate) ? Math.max(0, Math.min(val.length, Math.floor(0.15 * most) - val.length)) : 0;
}

/** What the search may still spend under `maxRollouts`, without what the final measurement needs. */
export function rolloutsLeft({ rollouts }: Pick<RunState, 'rollouts'>, config: SkillOptConfig, items: Sizes) {
  if (config.maxRollouts === undefined) return undefined;
  return config.maxRollouts - passesKept(config, items) * items.val.length - rollouts;
}

/** What the search could spend under a limit, once the baseline is measured. */
export function roomUnder(config: SkillOptConfig, items: Sizes): number {
  const rollouts = items.val.length + secondPassSize(config, items);
  return rolloutsLeft({ rollouts }, config, items) ?? Number.POSITIVE_INFINITY;
}

const PRUNE_PASSES = 4;

/** Passes after the search: the final measurement, and pruning. */
function passesKept(config: SkillOptConfig, items: Sizes): number {
  return finalPassesOf(config, items) + (config.prune ? PRUNE_PASSES : 0);
}

/** The config under another limit, and the validation tasks that are used then. */
export function underLimit(maxRollouts: number, config: SkillOptConfig, { val, spare }: Sizes) {
  const limited = { ...config, maxRollouts };
  return { config: limited, items: { val: { length: fittedSize(val.length + (spare?.length ?? 0), limited) } } };
}

export type UnderLimit = ReturnType<typeof underLimit>;

const paysForPasses = ({ config, items }: UnderLimit) =>
  config.maxRollouts >= (2 + passesKept(config, items)) * items.val.length;

/** Refuses a limit that does not pay for a baseline, one look at a candidate and the final measurement, and for what `isMore` asks. */
export function requireRollouts(
  config: SkillOptConfig,
  items: Sizes,
  isMore: (under: UnderLimit) => boolean = () => true,
) {
  const { maxRollouts } = config;
  const isEnough = (limit: number) => {
    const under = underLimit(limit, config, items);
    return paysForPasses(under) && isMore(under);
  };
  if (maxRollouts === undefined || isEnough(maxRollouts)) return;
  let least = maxRollouts + 1; // more tasks may be used under a higher limit
  while (!isEnough(least)) least += 1;
  const what = `maxRollouts: ${maxRollouts} attempts do not pay for a run on ${items.val.length} validation tasks`;
  throw new SkillError('CONFIG_INVALID', `${what}; it takes at least ${least}`, {
    hint: 'Raise maxRollouts, or use fewer validation tasks (selEnvNum).',
  });
}

/** Rollouts do not all cost the same: with their mean alone, every second measurement would fall short. */
const RESERVE_MARGIN = 1.1;

/** What `rollouts` more rollouts will need, by what those of the run have cost so far. */
export function reserveFor({ usage, history, rolloutMs }: RunState, rollouts: number): Held {
  const whole = costOfRollout(usage);
  const recent = costOfRollout(history.at(-1)?.tokens ?? {}); // under a longer skill than at the beginning
  const minutes = (RESERVE_MARGIN * rollouts * (rolloutMs ?? 0)) / 60_000;
  return {
    ...{ purpose: 'the final measurement', others: 'the search' },
    minutes,
    // As many calls for every rollout as for any other need no margin.
    calls: Math.ceil((Number.isInteger(whole.calls) ? whole.calls : RESERVE_MARGIN * whole.calls) * rollouts),
    totalTokens: Math.ceil(RESERVE_MARGIN * rollouts * Math.max(whole.totalTokens, recent.totalTokens)),
    costUsd: RESERVE_MARGIN * rollouts * Math.max(whole.costUsd, recent.costUsd),
  };
}

/** The mean, with the judge. Replies from the cache would have cost as much as the others. */
function costOfRollout(usage: RunState['usage']): Amounts {
  const { rollout = noStageUsage, judge = noStageUsage } = usage;
  const { replies, cacheHits, retries, input, output, costUsd, recovered = 0 } = addUsage(rollout, judge);
  const made = rollout.rollouts ?? rollout.replies; // an earlier version did not count them: one call each
  const ofMade = rollout.rollouts === undefined ? replies : replies - recovered;
  const perMade = (amount: number) => amount / Math.max(1, made);
  const perPaid = (amount: number) => amount / Math.max(1, replies - cacheHits);
  return {
    calls: made === 0 ? 1 : perMade(ofMade + retries), // nothing known: one call each
    totalTokens: perMade(ofMade * perPaid(input + output)),
    costUsd: perMade(ofMade * perPaid(costUsd)),
  };
}

type RunSizes = { readonly config: SkillOptConfig; readonly items: Pick<RunItems, 'train' | 'val' | 'test'> };

/** Tasks differ, and a limit that falls short again is no advice. */
const ADVICE_MARGIN = 1.25;
/** Share of the most that an attempt may take, before one was made. */
const USUAL_SHARE = 0.5;
const LEAST: Amounts = { calls: 1, totalTokens: 0, costUsd: 0 };

/**
 * What to raise a reached limit to: the amounts spent and kept back, and what the rest of the run needs, by the cost of attempts so
 * far. Minutes get no advice: they are counted from each start.
 */
export function advisedLimit({ limit, need }: LimitReached, state: RunState, sizes: RunSizes): number | undefined {
  if (!need || limit === 'maxMinutes') return undefined;
  const unit = UNITS[limit];
  const each = state.usage.rollout ? costOfRollout(state.usage)[unit] : Math.max(LEAST[unit], USUAL_SHARE * need.bound);
  const final = need.kept > 0 ? 0 : finalPassesOf(sizes.config, sizes.items) * sizes.items.val.length;
  const steps = stepsLeft(state) * optimizerCost(state, sizes, each)[unit];
  const rest = ADVICE_MARGIN * ((rolloutsToCome(state, sizes) + final) * each + steps);
  return roundUp(need.spent + need.kept + need.bound + rest, unit === 'costUsd' ? 0.01 : 1);
}

const UNITS = { maxCalls: 'calls', maxTotalTokens: 'totalTokens', maxCostUsd: 'costUsd' } as const satisfies Record<
  Exclude<LimitName, 'maxMinutes'>,
  keyof Amounts
>;

const stepsLeft = ({ totalSteps, stepsDone }: RunState) => Math.max(1, totalSteps - stepsDone);

/** Without the final measurement. Candidates may meet fewer tasks: this is what pays for all of them. */
function rolloutsToCome(state: RunState, { config, items }: RunSizes): number {
  const { val, train, test } = items;
  const baseline = state.baseline ? 0 : val.length + secondPassSize(config, items);
  const batch = Math.min(train.length, config.batchSize * config.accumulation);
  const search = stepsLeft(state) * (batch + val.length) + (config.prune ? PRUNE_PASSES * val.length : 0);
  const most = config.maxRollouts === undefined ? search : Math.min(search, config.maxRollouts - state.rollouts);
  return baseline + Math.max(0, most) + (config.evalTest ? 2 * test.length : 0);
}

/** Of a step: the mean of the steps so far. Before the first one: analysts read what a batch has cost, and write as much. */
function optimizerCost({ usage, stepsDone }: RunState, { config, items }: RunSizes, each: number): Amounts {
  const batch = Math.min(items.train.length, config.batchSize * config.accumulation);
  if (stepsDone === 0) return { calls: FIRST_STEP_CALLS, totalTokens: 2 * batch * each, costUsd: 2 * batch * each };
  const { rollout: _rollout, judge: _judge, ...others } = usage;
  const { replies, cacheHits, retries, input, output, costUsd } = Object.values(others).reduce(addUsage, noStageUsage);
  return {
    calls: (replies - cacheHits + retries) / stepsDone,
    totalTokens: (input + output) / stepsDone,
    costUsd: costUsd / stepsDone,
  };
}

const FIRST_STEP_CALLS = 10;

/** Up to two significant digits, in multiples of `least`. */
function roundUp(amount: number, least: number): number {
  const step = Math.max(least, 10 ** (Math.floor(Math.log10(Math.max(amount, least))) - 1));
  return Number((Math.ceil(amount / step - 1e-9) * step).toFixed(2));
}
