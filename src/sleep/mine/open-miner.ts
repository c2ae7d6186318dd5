import { join } from 'node:path';
import { parseConfig } from '../../core/config.ts';
import type { ChatModel } from '../../core/model.ts';
import type { RunObserver } from '../../core/run/observer.ts';
import { createStop } from '../../pipeline/index.ts';
import { openCaches } from '../../stores/index.ts';
import { wrapModels } from '../../train/setup/wrap-models.ts';
import { nightConfig } from '../plan/plan-night.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import { ANSWERS_FOLDER, openStateFolder } from '../state/state-folder.ts';

type MinerOptions = {
  readonly model: ChatModel;
  readonly settings: SleepSettings;
  /** The state folder: what was answered is kept there, so that nothing is paid for twice. */
  readonly folder: string;
  readonly observers?: readonly RunObserver[];
  readonly signal?: AbortSignal | undefined;
};

export type OpenMiner = Disposable & { readonly miner: ChatModel };

/** A miner model in what every run has: cache, meter, retry, rate limit, and the hard limit of a night. */
export async function openMiner({ model, settings, folder, observers = [], signal }: MinerOptions): Promise<OpenMiner> {
  const config = parseConfig(nightConfig(settings));
  const caches = await openCaches(await openStateFolder(join(folder, ANSWERS_FOLDER)), config);
  const stop = createStop(signal);
  const { optimizer } = wrapModels({ config, target: model, optimizer: model, caches, observers, stop });
  return {
    miner: optimizer,
    [Symbol.dispose]() {
      stop[Symbol.dispose]();
      caches.close();
    },
  };
}
