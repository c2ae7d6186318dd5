import type { SkillOptConfig } from '../../core/contracts/index.ts';
import { type Amounts, addUsage, type LimitName, noStageUsage, type RunState } from '../../core/run/index.ts';
import type { LimitReached } from '../../models/index.ts';
import type { RunItems } from '../setup/run-items.ts';
import { costOfRollout } from './reserve-for.ts';
import { secondPassSize } from './rollouts-left.ts';

type Sizes = { readonly config: SkillOptConfig; readonly items: Pick<RunItems, 'train' | 'val'> };

/** What a step asks of the optimizer besides, before one was taken. */
const FIRST_STEP: Amounts = { calls: 10, totalTokens: 0, costUsd: 0 };
/** Tasks are not all alike, and a limit that falls short again is no advice. */
const MARGIN = 1.25;
/** Of the most that an attempt may take, as long as none was seen. */
const USUAL_SHARE = 0.5;
const LEAST: Amounts = { calls: 1, totalTokens: 0, costUsd: 0 };

/**
 * The limit to raise a reached one to: what is spent and kept back, and what the next stage needs, the baseline or a step, by
 * what attempts have cost so far. Nothing of minutes: they are counted from each start.
 */
export function advisedLimit({ limit, need }: LimitReached, state: RunState, sizes: Sizes): number | undefined {
  if (!need || limit === 'maxMinutes') return undefined;
  const unit = UNITS[limit];
  const each = state.usage.rollout ? costOfRollout(state.usage)[unit] : Math.max(LEAST[unit], USUAL_SHARE * need.bound);
  const stage = MARGIN * nextRollouts(state, sizes) * each + (state.baseline ? optimizerCost(state)[unit] : 0);
  return roundUp(need.spent + need.kept + need.bound + stage, unit === 'costUsd' ? 0.01 : 1);
}

const UNITS = { maxCalls: 'calls', maxTotalTokens: 'totalTokens', maxCostUsd: 'costUsd' } as const satisfies Record<
  Exclude<LimitName, 'maxMinutes'>,
  keyof Amounts
>;

function nextRollouts({ baseline }: RunState, { config, items }: Sizes): number {
  if (!baseline) return items.val.length + secondPassSize(config, items);
  return Math.min(items.train.length, config.batchSize * config.accumulation) + items.val.length;
}

/** In the mean of the steps so far. */
function optimizerCost({ usage, stepsDone }: RunState): Amounts {
  if (stepsDone === 0) return FIRST_STEP;
  const { rollout: _rollout, judge: _judge, ...others } = usage;
  const { replies, cacheHits, retries, input, output, costUsd } = Object.values(others).reduce(addUsage, noStageUsage);
  return {
    calls: (replies - cacheHits + retries) / stepsDone,
    totalTokens: (input + output) / stepsDone,
    costUsd: costUsd / stepsDone,
  };
}

/** Up to two digits that mean something, in whole `least`s. */
function roundUp(amount: number, least: number): number {
  const step = Math.max(least, 10 ** (Math.floor(Math.log10(Math.max(amount, least))) - 1));
  return Number((Math.ceil(amount / step - 1e-9) * step).toFixed(2));
}
