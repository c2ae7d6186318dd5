import {
  bucketScores,
  type Item,
  noTarget,
  parseConfig,
  type RunCaches,
  SkillError,
  type SkillOptConfig,
} from '../core/contracts/index.ts';
import type { Ledger, Stamp } from '../core/run/index.ts';
import { countedTogether, createStop, scoreSkill } from '../pipeline/index.ts';
import type { SkillScore } from '../report/index.ts';
import { notify } from './record/recorder.ts';
import type { TrainerOptions } from './run.ts';
import { createRunDeps } from './setup/create-deps.ts';
import { requireReadable } from './setup/run-identity.ts';
import { requireImageReader, splitItems, withEnv } from './setup/run-items.ts';

export type EvaluateSkillOptions<I extends Item = Item> = Pick<
  TrainerOptions<I>,
  'env' | 'target' | 'judge' | 'agent' | 'runner' | 'config' | 'observers' | 'signal'
> & {
  readonly skill: string;
  readonly split: string;
  /** Which draw: passes with different indexes are independent. */
  readonly sampleIndex?: number;
  readonly caches?: RunCaches;
};

/** Scores one document on one split, as the trainer would. Nothing is journaled; with `caches` nothing is paid twice. */
export async function evaluateSkill<I extends Item>(options: EvaluateSkillOptions<I>): Promise<SkillScore> {
  const [score] = await evaluatePasses(options, [options.sampleIndex ?? 0]);
  return score!;
}

type PassesOptions<I extends Item> = EvaluateSkillOptions<I> &
  Pick<TrainerOptions<I>, 'budget'> & {
    readonly ledger?: Ledger | undefined;
    /** What the passes have used, by stage. */
    readonly onUsage?: (usage: Stamp['usage']) => void;
  };

/** The same for several draws, one after the other and within the limits of one run together. */
export async function evaluatePasses<I extends Item>(
  options: PassesOptions<I>,
  sampleIndexes: readonly number[],
): Promise<SkillScore[]> {
  const config = parseConfig(options.config);
  requireReadable(options.skill);
  requireImageReader(options.env, options.target);
  return withEnv(options.env, config, () => scoreInEnv(options, config, sampleIndexes));
}

async function scoreInEnv<I extends Item>(
  options: PassesOptions<I>,
  config: SkillOptConfig,
  sampleIndexes: readonly number[],
): Promise<SkillScore[]> {
  const { env, skill, split, target = noTarget, judge, agent, runner, caches, observers = [], signal } = options;
  const items = await splitItems(env, split, config);
  if (items.length === 0) {
    const hint = `Give some tasks the split "${split}", or choose another.`;
    throw new SkillError('TASKS_INVALID', `The ${split} split of ${env.name} is empty.`, { hint });
  }
  using stop = createStop(signal);
  const { deps, takeUsage } = createRunDeps({
    ...{ config, target, optimizer: target, judge, agent, runner, caches, observers, stop },
    shared: options.budget,
    ledger: options.ledger,
    promptOverrides: {},
    onWarning: (message) => notify(observers, 'onWarning', message),
    onProgress(done, total, result) {
      notify(observers, 'onProgress', { phase: 'test', step: 0, done, total, ...(result ? { result } : {}) });
    },
  });
  const scores: SkillScore[] = [];
  const together = countedTogether(deps, sampleIndexes.length * items.length);
  for (const sampleIndex of sampleIndexes) {
    const { evaluation, results } = await scoreSkill({ env, skill, items, sampleIndex }, together);
    scores.push({ evaluation, results, buckets: bucketScores(evaluation.scores, env.getTaskTypes?.()) });
  }
  options.onUsage?.(takeUsage().usage);
  return scores;
}
