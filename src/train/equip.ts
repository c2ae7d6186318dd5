import type { SkillOptConfig } from '../core/config.ts';
import type { PromptOverrides } from '../core/prompt-name.ts';
import { countTokens } from '../models/index.ts';
import { createStageDeps, type StageDeps } from '../pipeline/index.ts';
import { type WrapOptions, wrapModels } from './wrap-models.ts';

type EquipOptions = WrapOptions & {
  readonly promptOverrides: PromptOverrides;
  readonly onProgress: StageDeps['onProgress'];
};

/** The stages' tools for one run, with its models wrapped in what every run needs. */
export function equip({ promptOverrides, onProgress, ...options }: EquipOptions) {
  const { config, caches, stop } = options;
  const { takeUsage, ...models } = wrapModels(options);
  const deps = createStageDeps({
    ...models,
    ...stageSettings(config),
    rollouts: caches?.rollouts,
    promptOverrides,
    countTokens,
    stop,
    onProgress,
  });
  return { deps, takeUsage };
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
