import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from 'skillopt/server';
import { createWorld, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { trainAt } from '../../../src/app/index.ts';
import type { Problem } from '../../../src/core/page/index.ts';
import { SimpleQAEnv } from '../../../src/envs/index.ts';

/** A real run by a simulated training, of a few steps. */
export async function trainSimulated(
  path: string,
  { seed = 11, latencyMs = 0, leastLead = 0.3, signal = undefined as AbortSignal | undefined } = {},
) {
  const { items, initialSkill } = createWorld({ seed, train: 24, val: 16, test: 16 });
  const { train: trainItems, val: valItems, test: testItems } = items;
  const trainer = {
    config: { numEpochs: 1, batchSize: 12, editBudget: 3, seed, leastLead },
    env: new SimpleQAEnv({ name: 'demo', trainItems, valItems, testItems, initialSkill }),
    target: simulatedTarget({ seed, latencyMs, noise: 0.04 }),
    optimizer: simulatedOptimizer({ seed, latencyMs, precision: 0.6, harmfulRate: 0.3 }),
  };
  return trainAt(path, trainer, { ...(signal && { signal }) });
}

/** A folder for runs, gone after the test. */
export function runsFolder() {
  const root = mkdtempSync(join(tmpdir(), 'skillopt-pages-'));
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

type Options = Omit<Parameters<typeof createApp>[0], 'token'>;

/** What a refused request says. */
export const problemIn = async (response: Response) => ((await response.json()) as { error: Problem }).error;

/** An app, and requests to it as its page sends them. */
export function openPages(options: Options) {
  const token = 'token-of-the-test';
  const app = createApp({ ...options, token });
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    app.request(path, { headers: { cookie: `skillopt-80=${token}`, ...headers } });
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    app.request(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { cookie: `skillopt-80=${token}`, 'x-skillopt': '1', 'content-type': 'application/json', ...headers },
    });
  const json = async <Answer>(path: string) => (await (await get(path)).json()) as Answer;
  return { app, token, get, post, json };
}

export type SentEvent = { readonly event: string; readonly id: string | undefined; readonly data: string };

/** The events of a stream as they come, without comments. Leaving the loop hangs up. */
export async function* eventsOf(response: Response): AsyncGenerator<SentEvent> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      const event = field('event');
      if (event !== undefined) yield { event, id: field('id'), data: field('data') ?? '' };
    }
  }
}

/** The next event of one of these names. */
export async function nextEvent(events: AsyncGenerator<SentEvent>, ...names: readonly string[]): Promise<SentEvent> {
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error(`the stream ended before ${names.join(' or ')}`);
    if (names.includes(value.event)) return value;
  }
}
