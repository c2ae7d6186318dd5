import { EventEmitter, once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { type ChatModel, ModelCallError } from '../../../src/core/contracts/index.ts';
import { type ServeSimOptions, serveSim, simulatedOptimizer, simulatedTarget } from '../../../src/public/sim.ts';
import { expectEvery } from '../../support/expect-every.ts';

const QUESTION = 'Question: Invoice 104217 was paid on March 14, 2024. On which date was it paid?';
const messages = [
  { role: 'system', content: 'Write dates as YYYY-MM-DD.' },
  { role: 'user', content: QUESTION },
] as const;

const start = (options: Partial<ServeSimOptions> = {}) =>
  serveSim({ target: simulatedTarget(), optimizer: simulatedOptimizer(), ...options });

/** The fields of a completion or of an error that tests look at. */
type Body = {
  choices: { message: { content: string } }[];
  error: { type: string; message: string; code: string | null; param: string | null };
};

async function post(url: string, body: unknown) {
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}

const failing = (error: unknown): ChatModel => ({ id: 'failing', complete: () => Promise.reject(error) });

describe('the simulated server', () => {
  it('answers like the model, with usage and a finish reason', async () => {
    await using server = await start();
    const reply = await simulatedTarget().complete({ messages });
    const { status, body } = await post(server.url, {
      model: 'sim-target',
      messages,
      temperature: 0.7,
      max_tokens: 500,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'chat.completion',
      model: 'sim-target',
      choices: [{ index: 0, message: { role: 'assistant', content: reply.text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: reply.usage.input, completion_tokens: reply.usage.output },
    });
    expect(body.choices[0]!.message.content).toContain('<answer>2024-03-14</answer>');
    expect(server.requests).toBe(1);
  });

  it('takes the seed as sample index, and the limits of a reply by both names', async () => {
    const target = simulatedTarget({ noise: 0.5 });
    await using server = await start({ target });
    for (const seed of [0, 1, 2, 3, 4, 5]) {
      const { body } = await post(server.url, { model: 'sim-target', messages, seed });
      expect(body.choices[0]!.message.content).toBe((await target.complete({ messages, sampleIndex: seed })).text);
    }
    for (const limit of [{ max_tokens: 3 }, { max_completion_tokens: 3 }]) {
      const { body } = await post(server.url, { model: 'sim-target', messages, ...limit });
      expect(body.choices[0]).toMatchObject({ finish_reason: 'length' });
    }
  });

  it('answers a repeated request with the same reply, or with the next draw where repeats vary', async () => {
    const target = simulatedTarget({ noise: 0.5 });
    const contents = async (options: Partial<ServeSimOptions>, times: number, more = {}) => {
      await using server = await start({ target, ...options });
      const asked = Array.from({ length: times }, () => post(server.url, { model: 'sim-target', messages, ...more }));
      return (await Promise.all(asked)).map(({ body }) => body.choices[0]!.message.content).sort();
    };
    const draws = [0, 1, 2, 3, 4, 5].map((sampleIndex) => target.complete({ messages, sampleIndex }));
    const texts = (await Promise.all(draws)).map(({ text }) => text);
    expect(new Set(texts).size).toBeGreaterThan(1);
    expect(await contents({}, 6)).toEqual(Array(6).fill(texts[0]));
    expect(await contents({ variesRepeats: true }, 6)).toEqual([...texts].sort());
    expect(await contents({ variesRepeats: true }, 3, { seed: 2 })).toEqual(Array(3).fill(texts[2]));
  });

  it('takes developer messages and content in parts', async () => {
    await using server = await start();
    const parts = [
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Write dates as ' },
          { type: 'text', text: 'YYYY-MM-DD.' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: QUESTION }] },
    ];
    const { body } = await post(server.url, { model: 'sim-target', messages: parts });
    expect(body.choices[0]!.message.content).toContain('2024-03-14');
  });

  it('serves the optimizer beside the target, and lists both', async () => {
    await using server = await start();
    const { body } = await post(server.url, {
      model: 'sim-optimizer',
      messages: [{ role: 'system', content: 'support_count' }],
    });
    expect(JSON.parse(body.choices[0]!.message.content)).toMatchObject({ edits: [] });
    const models = (await (await fetch(`${server.url}/models`)).json()) as { data: { id: string }[] };
    expect(models.data.map(({ id }) => id)).toEqual(['sim-target', 'sim-optimizer']);
  });

  it.each([
    ['no JSON', '{"model": ', 'JSON'],
    ['no object', [], 'object'],
    ['no messages', { model: 'sim-target' }, 'messages'],
    ['empty messages', { model: 'sim-target', messages: [] }, 'messages'],
    ['an unknown role', { model: 'sim-target', messages: [{ role: 'robot', content: '' }] }, 'messages.0.role'],
    [
      'a picture',
      { model: 'sim-target', messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      'messages.0.content',
    ],
    [
      'streaming',
      { model: 'sim-target', messages, stream: true },
      'stream: must be false: this server does not stream',
    ],
    ['two choices', { model: 'sim-target', messages, n: 2 }, 'n: must be 1'],
  ])('refuses %s with 400 and says why', async (_, body, reason) => {
    await using server = await start();
    const answer = await post(server.url, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({
      type: 'invalid_request_error',
      message: expect.stringContaining(reason),
    });
  });

  it('answers 404 for an unknown model and an unknown path', async () => {
    await using server = await start();
    const { status, body } = await post(server.url, { model: 'gpt', messages });
    expect([status, body.error.code, body.error.param]).toEqual([404, 'model_not_found', 'model']);
    expect(body.error.message).toBe('There is no model "gpt": ask for sim-target or sim-optimizer.');
    const elsewhere = await fetch(`${server.url}/embeddings`, { method: 'POST', body: '{}' });
    expect(elsewhere.status).toBe(404);
    expect(await elsewhere.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('passes on the status of a failed call, and when to come back', async () => {
    const target = failing(new ModelCallError('too many', { status: 429, retryAfterMs: 1500 }));
    await using server = await start({ target, optimizer: failing(new Error('bug')) });
    const { status, headers, body } = await post(server.url, { model: 'sim-target', messages });
    expect([status, headers.get('retry-after-ms'), headers.get('retry-after')]).toEqual([429, '1500', '2']);
    expect(body.error).toMatchObject({ type: 'rate_limit_error', message: 'too many' });
    expect(await post(server.url, { model: 'sim-optimizer', messages })).toMatchObject({ status: 500 });
  });

  it('lets a retry through the failure knob', async () => {
    await using server = await start({ target: simulatedTarget({ failureRate: 0.6, seed: 4 }) });
    const statuses: number[] = [];
    while (statuses.at(-1) !== 200) statuses.push((await post(server.url, { model: 'sim-target', messages })).status);
    expectEvery(statuses.slice(0, -1), (status) => status === 503 || status === 429);
    expect(server.requests).toBe(statuses.length);
  });

  it('keeps a connection alive over many requests', async () => {
    await using server = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let round = 0; round < 5; round++) ports.add(await localPortOf(`${server.url}/models`, agent));
    agent.destroy();
    expect(ports.size).toBe(1);
  });

  it('aborts the call of a client that hangs up', async () => {
    const far = new EventEmitter();
    const [asked, aborted] = [once(far, 'asked'), once(far, 'aborted')];
    const target: ChatModel = {
      id: 'waiting',
      async complete({ signal }) {
        far.emit('asked');
        await once(signal!, 'abort');
        far.emit('aborted');
        throw signal!.reason;
      },
    };
    await using server = await start({ target });
    const client = new AbortController();
    const call = fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'sim-target', messages }),
      signal: client.signal,
    });
    await asked;
    client.abort();
    await expect(call).rejects.toThrow();
    await aborted;
  });

  it('closes while calls are waiting, and may be closed twice', async () => {
    const server = await start({ target: simulatedTarget({ latencyMs: 3_600_000 }) });
    const call = post(server.url, { model: 'sim-target', messages }).catch((error: unknown) => error);
    while (server.requests === 0) await fetch(`${server.url}/models`);
    await server.close();
    await server.close();
    expect(await call).toBeInstanceOf(Error);
  });

  it('says so when its port is taken', async () => {
    await using server = await start();
    const port = Number(new URL(server.url).port);
    await expect(start({ port })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
  });
});

function localPortOf(url: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { agent }, async (response) => {
      const port = response.socket.localPort;
      await text(response);
      resolve(port);
    })
      .on('error', reject)
      .end();
  });
}
