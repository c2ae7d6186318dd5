import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { evaluateSkill, extractJson, memoryRun, SkillOptTrainer } from 'skillopt';
import { agentChat } from 'skillopt/agents';
import { openaiCompatible } from 'skillopt/models';
import { scripted } from 'skillopt/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { levelsEnv, levelsTarget } from '../../../support/levels.ts';
import { STRICT } from '../../../support/strict-gate.ts';
import { fakeCli } from '../../agents/fake-cli.ts';

const messages = [{ role: 'user' as const, content: 'hi' }];

/** Sends spaces until it is hung up on, under the head of a chat completion. */
async function endlessServer() {
  let sent = 0;
  const server = createServer((_, response) => {
    const chunk = Buffer.alloc(1_000_000, ' ');
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      sent += chunk.length;
    };
    response.on('drain', more);
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { baseURL: `http://127.0.0.1:${port}/v1`, sent: () => sent };
}

it('a reply without end is hung up on, and not asked for again', async () => {
  const server = await endlessServer();
  const model = openaiCompatible({ model: 'm', baseURL: server.baseURL });
  await expect(model.complete({ messages })).rejects.toMatchObject({
    code: 'MODEL_CALL_FAILED',
    message: expect.stringMatching(/^127\.0\.0\.1:\d+ sent more than 32 MB in reply to one call$/),
    isRetryable: false,
  });
  expect(server.sent()).toBeLessThan(64_000_000);
});

it('a reply without end through a proxy is hung up on, too', async () => {
  const server = await endlessServer();
  process.env.http_proxy = server.baseURL.replace('/v1', '');
  onTestFinished(() => void delete process.env.http_proxy);
  const model = openaiCompatible({ model: 'm', baseURL: 'http://far.example/v1' });
  await expect(model.complete({ messages })).rejects.toMatchObject({
    message: 'far.example sent more than 32 MB in reply to one call',
    isRetryable: false,
  });
});

it.each(['claude-cli', 'codex-cli'] as const)('%s, printing without end, is ended and not asked again', async (cli) => {
  const endless = `const chunk = 'x'.repeat(1_000_000) + '\\n'; for (;;) fs.writeSync(1, chunk);`;
  using fake = fakeCli(cli === 'claude-cli' ? 'claude' : 'codex', endless);
  await expect(agentChat({ cli, env: fake.env }).complete({ messages })).rejects.toMatchObject({
    code: 'MODEL_CALL_FAILED',
    message: expect.stringContaining('printed more than 32 MB'),
    isRetryable: false,
  });
});

describe('a skill that no model could read', () => {
  const skill = 'x'.repeat(10_000_000);
  const problem = {
    code: 'CONFIG_INVALID',
    message: 'the skill document has 10,000,000 characters, and at most 1,000,000 can be used',
  };

  it('is refused before anything is paid for or written', async () => {
    const store = memoryRun();
    const target = levelsTarget();
    const models = { target, optimizer: scripted('o', () => '') };
    const trainer = new SkillOptTrainer({ env: levelsEnv(), ...models, store, initialSkill: skill });
    await expect(trainer.train()).rejects.toMatchObject(problem);
    expect([store.events, target.requests]).toEqual([[], []]);
  });

  it('is not scored either', async () => {
    const options = { env: levelsEnv(), target: levelsTarget(), split: 'val' };
    await expect(evaluateSkill({ ...options, skill })).rejects.toMatchObject(problem);
  });
});

describe('brackets nested beyond reason', () => {
  const nested = (depth: number) => [
    `{"patch": ${'['.repeat(depth)}${']'.repeat(depth)}}`,
    `${'{"patch": '.repeat(depth)}1${'}'.repeat(depth)}`,
    `{"patch": ${'['.repeat(depth)}`,
    `Here: \`\`\`json\n{"edits": ${'[{"a":'.repeat(depth)}\n\`\`\``,
  ];

  it.each([2_000, 200_000])('are no JSON to read: %i', (depth) => {
    for (const text of nested(depth)) expect(extractJson(text)).toBeUndefined();
    expect(extractJson(`{"a": ${'['.repeat(50)}${']'.repeat(50)}}`)).toBeDefined();
  });

  it.each([2_000, 200_000])('make an unusable reply like any other: %i', async (depth) => {
    let asked = 0;
    const optimizer = scripted('babbler', () => nested(depth)[asked++ % 4]!);
    const config = { ...STRICT, numEpochs: 1, batchSize: 9 };
    const store = memoryRun();
    const summary = await new SkillOptTrainer({ env: levelsEnv(), target: levelsTarget(), optimizer, store, config })
      .train()
      .catch((error: { code?: string }) => error);
    expect(asked).toBeGreaterThan(0);
    expect(store.events.map(({ type }) => type)).toContain('step-end');
    expect(summary).not.toBeInstanceOf(RangeError);
  });
});

it.each([[null], [undefined], [''], [42], [{}]])('extractJson takes %o for a reply without JSON', (text) => {
  expect(extractJson(text as never)).toBeUndefined();
});
