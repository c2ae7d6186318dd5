import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { ChatModel } from '../../../src/index.ts';

/**
 * The same model, whose every call takes `ms`. What it says is worked out while the call is under way, and after whatever
 * else is sent now: a real model would do that elsewhere.
 */
export function delayed(model: ChatModel, ms: number): ChatModel {
  return {
    ...model,
    async complete(request) {
      const end = performance.now() + ms;
      const saying = turn().then(() => model.complete(request));
      await Promise.all([saying, until(end)]);
      return saying;
    },
  };
}

/** Timers count from the beginning of their turn of the event loop, so one may be early. */
async function until(end: number): Promise<void> {
  for (let left = end - performance.now(); left > 0; left = end - performance.now()) await sleep(Math.ceil(left));
}
