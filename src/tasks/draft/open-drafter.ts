import type { RunCaches } from '../../core/cache.ts';
import { parseConfig, type SkillOptConfigInput } from '../../core/config.ts';
import type { ChatModel } from '../../core/model.ts';
import type { RunObserver } from '../../core/run/observer.ts';
import { createStop, type StageDeps } from '../../pipeline/index.ts';
import { notify } from '../../train/record/recorder.ts';
import { createRunDeps } from '../../train/setup/create-deps.ts';

type DrafterOptions = {
  /** Drafts, solves, and scores by criteria. */
  readonly model: ChatModel;
  /** Limits, workers, retries and prices. */
  readonly config?: SkillOptConfigInput | undefined;
  readonly caches?: RunCaches | undefined;
  readonly observers?: readonly RunObserver[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type OpenDrafter = Disposable & {
  readonly stages: StageDeps;
  readonly takeUsage: ReturnType<typeof createRunDeps>['takeUsage'];
};

/** A model in what every run has: cache, meter, retry, rate limit and the limits of the configuration. */
export function openDrafter({ model, config, caches, observers = [], signal }: DrafterOptions): OpenDrafter {
  const stop = createStop(signal);
  const { deps, takeUsage } = createRunDeps({
    ...{ config: parseConfig(config), target: model, optimizer: model, judge: model, caches, observers, stop },
    promptOverrides: {},
    onProgress: () => {},
    onWarning: (message) => notify(observers, 'onWarning', message),
  });
  return { stages: deps, takeUsage, [Symbol.dispose]: () => stop[Symbol.dispose]() };
}
