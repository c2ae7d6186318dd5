import { type ChatModel, parseConfig, type RunCaches, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import type { RunObserver } from '../../core/run/index.ts';
import { createStop, type StageDeps } from '../../pipeline/index.ts';
import { createRunDeps, notify } from '../../train/index.ts';

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
