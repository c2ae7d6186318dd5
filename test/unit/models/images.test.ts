import { createHash } from 'node:crypto';
import { agentChat } from 'skillopt/agents';
import { simulatedTarget } from 'skillopt/sim';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { type ChatModel, type ChatRequest, PythonRandom, type SkillError } from '../../../src/core/contracts/index.ts';
import { evaluateSkill, SimpleQAEnv } from '../../../src/index.ts';
import { countMessages } from '../../../src/models/index.ts';
import {
  anthropicChat,
  azureChat,
  googleChat,
  openaiChat,
  openaiCompatible,
  scripted,
  withReplyCache,
} from '../../../src/public/models.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const image = { mediaType: 'image/png', base64: PIXEL };
const shown: ChatRequest = {
  messages: [
    { role: 'system', content: 'Look.' },
    { role: 'user', content: 'What is it?', images: [image] },
  ],
};

describe('an image in a message', () => {
  it.each([
    ['openaiCompatible', openaiCompatible],
    ['openaiChat', openaiChat],
    [
      'responses',
      (options: { model: string; baseURL: string; apiKey: string }) => openaiChat({ ...options, api: 'responses' }),
    ],
    ['azureChat', azureChat],
    ['anthropicChat', anthropicChat],
    ['googleChat', googleChat],
  ])('is sent by %s beside its text', async (name, make) => {
    await using server = await startFakeLLM(() => 'a pixel');
    const model = make({ model: 'm', baseURL: server.baseURL, apiKey: 'key' });
    expect(model.readsImages).toBe(true);
    expect((await model.complete(shown)).text).toBe('a pixel');
    const sent = JSON.stringify(server.bodies.at(-1)!);
    expect(sent).toContain(PIXEL);
    expect(sent).toContain('What is it?');
    expect(partsOf(server.bodies.at(-1)!)).toEqual(PARTS[name]);
    expect(server.requests.at(-1)!.messages).toContainEqual({ role: 'user', content: 'What is it?' });
  });

  it('is looked at as closely as it asks for', async () => {
    await using server = await startFakeLLM(() => 'a pixel');
    const messages = [{ role: 'user' as const, content: 'What?', images: [{ ...image, detail: 'low' as const }] }];
    for (const make of [openaiCompatible, openaiChat]) {
      await make({ model: 'm', baseURL: server.baseURL, apiKey: 'key' }).complete({ messages });
      expect(JSON.stringify(server.bodies.at(-1)!)).toContain('"detail":"low"');
    }
  });

  it('counts for the budget', async () => {
    const texts = shown.messages.map(({ role, content }) => ({ role, content }));
    expect((await countMessages(shown.messages)) - (await countMessages(texts))).toBeGreaterThan(1_000);
  });

  it('is refused by models that read texts alone, and never retried', async () => {
    const refused = { isRetryable: false, isFatal: true, message: expect.stringContaining('reads texts alone') };
    const cli = agentChat({ cli: 'claude-cli' });
    expect(cli.readsImages).toBeUndefined();
    await expect(cli.complete(shown)).rejects.toMatchObject(refused);
    await expect(simulatedTarget().complete(shown)).rejects.toMatchObject(refused);
  });

  it('ends an evaluation before it begins if the target reads texts alone', async () => {
    const items = [{ id: 'a', question: 'What?', answers: ['x'] }];
    const plain = new SimpleQAEnv({ trainItems: items, valItems: [], testItems: [] });
    const env = Object.assign(plain, { needsImages: true as const });
    const blind: ChatModel = { id: 'blind', complete: () => Promise.reject(new Error('was asked')) };
    await expect(evaluateSkill({ env, target: blind, skill: '', split: 'train' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('the target blind reads texts alone'),
    } satisfies Partial<SkillError>);
    const seeing = await evaluateSkill({ env, target: scripted('s', () => 'x'), skill: '', split: 'train' });
    expect(seeing.evaluation.hard).toBe(1);
  });
});

const TEXT = { type: 'text', text: 'What is it?' };
const CHAT = [TEXT, { type: 'image_url', image_url: { url: 'data:image/png;base64,BYTES' } }];
const PARTS: Readonly<Record<string, unknown>> = {
  openaiCompatible: CHAT,
  openaiChat: CHAT,
  responses: [
    { type: 'input_text', text: 'What is it?' },
    { type: 'input_image', image_url: 'data:image/png;base64,BYTES' },
  ],
  azureChat: CHAT,
  anthropicChat: [TEXT, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'BYTES' } }],
  googleChat: [{ text: 'What is it?' }, { inlineData: { mimeType: 'image/png', data: 'BYTES' } }],
};

/** What a provider is sent of the user's message. */
function partsOf(body: unknown): unknown {
  const { messages, contents, input } = body as Record<string, { role: string; content?: unknown; parts?: unknown }[]>;
  const user = (messages ?? contents ?? input)!.find(({ role }) => role === 'user')!;
  return JSON.parse(JSON.stringify(user.content ?? user.parts).replaceAll(PIXEL, 'BYTES'));
}

describe('the key of a reply', () => {
  async function keysOf(requests: readonly ChatRequest[]): Promise<string[]> {
    const keys: string[] = [];
    const cache = { get: async () => undefined, set: async (key: string) => void keys.push(key) };
    const model = withReplyCache(
      scripted('m', () => 'x'),
      cache,
    );
    for (const request of requests) await model.complete(request);
    return keys;
  }

  it('is what it was before there were images: 10,000 requests', async () => {
    const keys = await keysOf(textRequests(10_000));
    expect(new Set(keys).size).toBe(10_000);
    expect(createHash('sha256').update(keys.join('\n')).digest('hex')).toBe(
      '58ecd57f4e4c1d4731081180f8919753941a7b1280331509b515659d1b99a3ab',
    );
  });

  it('differs by the bytes and by how closely they are looked at', async () => {
    const asked = (images?: ChatRequest['messages'][number]['images']): ChatRequest => ({
      messages: [{ role: 'user', content: 'What?', ...(images ? { images } : {}) }],
    });
    const other = { ...image, base64: 'AAAA' };
    const keys = await keysOf([
      asked(),
      asked([image]),
      asked([other]),
      asked([image, other]),
      asked([{ ...image, detail: 'high' }]),
    ]);
    expect(new Set(keys).size).toBe(5);
  });
});

/** Requests of texts alone. The digest above was made of them before messages could have images. */
function textRequests(count: number): ChatRequest[] {
  const random = new PythonRandom(33);
  const word = () =>
    String.fromCodePoint(...Array.from({ length: 1 + random.randBelow(8) }, () => 32 + random.randBelow(0x2fff)));
  return Array.from({ length: count }, (_, index) => ({
    messages: [
      { role: 'system', content: `${index} ${word()}` },
      ...Array.from({ length: 1 + random.randBelow(3) }, () => ({ role: 'user' as const, content: word() })),
      ...(random.randBelow(2) ? [{ role: 'assistant' as const, content: word() }] : []),
    ],
    ...(random.randBelow(2) ? { maxOutputTokens: random.randBelow(5000) + 1 } : {}),
    ...(random.randBelow(2) ? { temperature: random.random() } : {}),
    ...(random.randBelow(2) ? { sampleIndex: random.randBelow(9) } : {}),
  }));
}
