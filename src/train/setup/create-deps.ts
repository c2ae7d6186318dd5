import type { PromptOverrides, RolloutRunner, SkillOptConfig } from '../../core/contracts/index.ts';
import { countTokens } from '../../models/index.ts';
import { createStageDeps, type RolloutCache, type StageDeps, type Stop } from '../../pipeline/index.ts';
import { createFailureTally, createReplyTally, createThrowTally } from '../record/reply-tally.ts';
import { type WrapOptions, wrapModels } from './wrap-models.ts';

type RunDepsOptions = WrapOptions & {
  readonly promptOverrides: PromptOverrides;
  readonly runner?: RolloutRunner | undefined;
  readonly onProgress: StageDeps['onProgress'];
  readonly onWarning: (message: string) => void;
};

/**
 * What the stages of one run reach for, with its models wrapped in what every run needs. `depsUnder` gives the same under
 * another stop: for what is done after the first one has fired.
 */
export function createRunDeps({ promptOverrides, ...options }: RunDepsOptions) {
  const { config, caches, stop, runner, onProgress, onWarning } = options;
  const { takeUsage, keepSpent, budget, modelsUnder, countRollout, ...models } = wrapModels(options);
  const tally = createReplyTally();
  const thrown = createThrowTally(onWarning);
  const failed = createFailureTally();
  const countNewRollout = (text: string) => {
    countRollout(text);
    failed.count(text);
  };
  const common = {
    ...stageSettings(config),
    rollouts: caches && countNew(caches.rollouts, countNewRollout),
    promptOverrides,
    runner,
    countTokens,
    onAnswer: tally.count,
    onThrown: thrown.count,
  };
  return {
    deps: createStageDeps({ ...models, ...common, stop, onProgress }),
    depsUnder: (other: Stop, report: StageDeps['onProgress']) =>
      createStageDeps({ ...modelsUnder(other), ...common, stop: other, onProgress: report }),
    budget,
    takeUsage,
    keepSpent,
    takeAnswers: tally.take,
    takeThrown: thrown.take,
    takeFailures: failed.take,
  };
}

/** What is saved was made just now. */
function countNew(cache: RolloutCache, count: (text: string) => void): RolloutCache {
  const held = new Map<string, string>();
  return {
    get: async (key) => held.get(key) ?? cache.get(key),
    hold: (key, value) => void held.set(key, value),
    set(key, value) {
      count(value);
      return cache.set(key, value);
    },
    flush: () => cache.flush?.(),
  };
}

function stageSettings(config: SkillOptConfig) {
  const { workers, extras, callTimeoutMs, rolloutTimeoutMs, maxErroredShare } = config;
  const { optimizerMaxCompletionTokens, rewriteMaxCompletionTokens, maxTrajectoryTokens, optimizerContextTokens } =
    config;
  return {
    workers,
    extras,
    callTimeoutMs,
    rolloutTimeoutMs,
    maxErroredShare,
    optimizerMaxCompletionTokens,
    rewriteMaxCompletionTokens,
    maxTrajectoryTokens,
    optimizerContextTokens,
  };
}
