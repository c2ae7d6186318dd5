import type { PromptOverrides } from '../core/prompt-name.ts';
import { createStageDeps, type StageDeps } from '../pipeline/index.ts';
import { type WrapOptions, wrapModels } from './wrap-models.ts';

type EquipOptions = WrapOptions & {
  readonly promptOverrides: PromptOverrides;
  readonly onProgress: StageDeps['onProgress'];
};

/** The stages' tools for one run, with its models wrapped in what every run needs. */
export function equip({ promptOverrides, onProgress, ...options }: EquipOptions) {
  const { config, caches, stop } = options;
  const { workers, extras, optimizerMaxCompletionTokens, callTimeoutMs, rolloutTimeoutMs, maxErroredShare } = config;
  const { takeUsage, ...models } = wrapModels(options);
  const deps = createStageDeps({
    ...models,
    rollouts: caches?.rollouts,
    workers,
    promptOverrides,
    extras,
    optimizerMaxCompletionTokens,
    callTimeoutMs,
    rolloutTimeoutMs,
    maxErroredShare,
    stop,
    onProgress,
  });
  return { deps, takeUsage };
}
