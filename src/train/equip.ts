import type { RunCaches } from '../core/cache.ts';
import type { SkillOptConfig } from '../core/config.ts';
import type { ChatModel, ChatRequest } from '../core/model.ts';
import type { RunObserver } from '../core/observer.ts';
import type { PromptOverrides } from '../core/prompt-name.ts';
import { createMeter, withCircuit, withMeter, withReplyCache, withRetry, withTimeout } from '../models/index.ts';
import { createStageDeps, type StageDeps, type Stop } from '../pipeline/index.ts';
import { notify } from './recorder.ts';

type EquipOptions = {
  readonly config: SkillOptConfig;
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly caches: RunCaches | undefined;
  readonly promptOverrides: PromptOverrides;
  readonly observers: readonly RunObserver[];
  readonly stop: Stop;
  readonly onProgress: StageDeps['onProgress'];
};

/** Wraps the models in what every run needs, and gives the stages their tools. */
export function equip({
  config,
  target,
  optimizer,
  caches,
  promptOverrides,
  observers,
  stop,
  onProgress,
}: EquipOptions) {
  const meter = createMeter();
  const wrap = (model: ChatModel) => {
    const retried = withRetry(withTimeout(model, config.callTimeoutMs), {
      maxRetries: config.maxRetries,
      signal: stop.signal,
      onRetry: ({ request, ...retry }) => {
        meter.add(request.stage ?? 'other', { retries: 1 });
        notify(observers, 'onRetry', retry);
      },
    });
    const metered = withMeter(withCircuit(retried, config.maxConsecutiveFailures), meter); // inside the cache: tokens of a remembered reply were paid before
    const onHit = ({ stage = 'other' }: ChatRequest) => meter.add(stage, { replies: 1, cacheHits: 1 });
    return caches ? withReplyCache(metered, caches.replies, { onHit }) : metered;
  };
  const { workers, extras, optimizerMaxCompletionTokens, callTimeoutMs, rolloutTimeoutMs, maxErroredShare } = config;
  const deps = createStageDeps({
    target: wrap(target),
    optimizer: wrap(optimizer),
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
  return { deps, takeUsage: () => meter.take() };
}
