import { join } from 'node:path';
import { type ChatModel, parseConfig } from '../../core/contracts/index.ts';
import { redactSecrets } from '../../core/guard/index.ts';
import type { RunObserver } from '../../core/run/index.ts';
import type { Budget } from '../../models/index.ts';
import { createStop } from '../../pipeline/index.ts';
import { ANSWERS_FOLDER, makeFolderBelow, openCaches } from '../../stores/index.ts';
import { wrapModels } from '../../train/index.ts';
import { nightConfig, type SleepSettings } from '../settings/sleep-settings.ts';

type MinerOptions = {
  readonly model: ChatModel;
  readonly settings: SleepSettings;
  /** The state folder: what was answered is kept there, so that nothing is paid for twice. */
  readonly folder: string;
  /** For what the model answers, before it is kept: a model may repeat what it was not told, or guess it. */
  readonly redact?: ((text: string) => string) | undefined;
  readonly observers?: readonly RunObserver[];
  readonly signal?: AbortSignal | undefined;
  /** The limits of the night that it is a part of. Default: those of the settings. */
  readonly budget?: Budget | undefined;
};

export type OpenMiner = Disposable & { readonly miner: ChatModel };

/** A miner model in what every run has: cache, meter, retry, rate limit, and the hard limit of a night. */
export async function openMiner(options: MinerOptions): Promise<OpenMiner> {
  const { settings, folder, observers = [], signal, budget: shared } = options;
  const model = withRedaction(options.model, options.redact ?? redactSecrets);
  const config = parseConfig(nightConfig(settings));
  const answers = join(folder, ANSWERS_FOLDER);
  await makeFolderBelow(folder, answers);
  const caches = await openCaches(answers, config);
  const stop = createStop(signal);
  const { optimizer } = wrapModels({ config, target: model, optimizer: model, caches, observers, stop, shared });
  return {
    miner: optimizer,
    [Symbol.dispose]() {
      stop[Symbol.dispose]();
      caches.close();
    },
  };
}

const withRedaction = (model: ChatModel, redact: (text: string) => string): ChatModel => ({
  ...model,
  async complete(request) {
    const reply = await model.complete(request);
    return { ...reply, text: redact(reply.text) };
  },
});
