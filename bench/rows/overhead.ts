import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChatModel, type ChatRequest, parseConfig } from 'skillopt';
import { countMessages } from 'skillopt/models';
import { createStop } from '../../src/pipeline/index.ts';
import { openCaches, openLedger } from '../../src/stores/index.ts';
import { wrapModels } from '../../src/train/index.ts';
import { type BenchRow, median } from '../row.ts';

const CALLS = 6400;
const AT_ONCE = 64;
const MOST_MS = 0.5;

/** What all wrappers together add to a call, with every limit set, and the cache and the ledger on disk. */
export const overhead: BenchRow = {
  name: 'overhead',
  what: 'all wrappers together, around a model that answers at once, token counting apart: median per call',
  goal: `≤ ${MOST_MS} ms, one by one and ${AT_ONCE} at a time`,
  async run() {
    await measure('warm-up'); // the engine compiles during the first thousand calls
    const { counting, oneByOne, together } = await measure('measured');
    const measured = `${oneByOne.toFixed(3)} ms one by one, ${together.toFixed(3)} ms ${AT_ONCE} at a time; counting tokens ${counting.toFixed(3)} ms`;
    return { measured, holds: Math.max(oneByOne, together) <= MOST_MS, figures: { oneByOne, together, counting } };
  },
};

async function measure(name: string) {
  const directory = await mkdtemp(join(tmpdir(), 'skillopt-bench-'));
  const caches = await openCaches(directory);
  const ledger = await openLedger(join(directory, 'spent.json'));
  using stop = createStop();
  const options = { config, target: instant, optimizer: instant, caches, ledger, observers: [], stop };
  const { target: wrapped } = wrapModels(options);
  try {
    const [first, second] = [requests(`${name} one by one`), requests(`${name} together`)];
    const counting = median(await eachTime([...first, ...second], ({ messages }) => countMessages(messages)));
    return {
      counting, // and from here on the counts are remembered
      oneByOne: (await timeOneByOne(wrapped, first)) - (await timeOneByOne(instant, first)),
      together: (await timeTogether(wrapped, second)) - (await timeTogether(instant, second)),
    };
  } finally {
    caches.close();
    ledger.close();
    await rm(directory, { recursive: true });
  }
}

const config = parseConfig({
  workers: AT_ONCE,
  maxCalls: 1e9,
  maxTotalTokens: 1e12,
  maxCostUsd: 1e9,
  maxMinutes: 1e6,
  prices: { instant: { input: 1, cachedInput: 1, output: 1 } },
});

const instant: ChatModel = {
  id: 'instant',
  modelName: 'instant',
  account: 'bench local key',
  async complete() {
    return { text: 'Paris', usage: { input: 20, cached: 0, output: 1, reasoning: 0 }, finishReason: 'stop' };
  },
};

function requests(name: string): ChatRequest[] {
  return Array.from({ length: CALLS }, (_, index) => ({
    messages: [{ role: 'user', content: `${name}: what is the capital of country ${index}?` }],
    stage: 'rollout',
  }));
}

async function timeOneByOne(model: ChatModel, all: readonly ChatRequest[]): Promise<number> {
  return median(await eachTime(all, (request) => model.complete(request)));
}

/** A round's time over its calls: a call among others mostly waits for them. */
async function timeTogether(model: ChatModel, all: readonly ChatRequest[]): Promise<number> {
  const rounds = Array.from({ length: CALLS / AT_ONCE }, (_, round) =>
    all.slice(round * AT_ONCE, (round + 1) * AT_ONCE),
  );
  const times = await eachTime(rounds, (round) => Promise.all(round.map((request) => model.complete(request))));
  return median(times) / AT_ONCE;
}

async function eachTime<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (const item of items) {
    const start = performance.now();
    await work(item);
    times.push(performance.now() - start);
  }
  return times;
}
