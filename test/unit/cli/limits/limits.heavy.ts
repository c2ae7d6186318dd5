import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChatModel, costUsd, PRICES } from 'skillopt/models';
import { simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { startFakeAgentLLM, startFakeLLM } from 'skillopt/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { projectOverHttp } from '../../../support/project-over-http.ts';
import { sleepHome } from '../../../support/sleep/sleep-home.ts';
import { agentProject } from '../agent-target/agent-project.ts';
import { nightAnswer, nightFlags, reviewedTasks } from '../sleep/night-over-http.ts';

vi.setConfig({ testTimeout: 120_000 });
afterEach(() => vi.useRealTimers());

const HOUR_MS = 3_600_000;
/** What each answer says that it has used, and what a million tokens cost. */
const USAGE = { prompt_tokens: 700, completion_tokens: 300, total_tokens: 1_000 };
const PRICE = { input: 10, cachedInput: 10, output: 10 };
const prices = { 'sim-target': PRICE, 'sim-optimizer': PRICE };

type Weather = {
  /** How long each answer takes. */
  readonly delayMs?: number;
  /** How far somebody sets the clock of this machine after the third request. */
  readonly clockMs?: number;
};

/** A provider that counts: every fourth request fails for the moment, all others cost something. */
async function startCounting({ delayMs = 0, clockMs = 0 }: Weather = {}) {
  if (clockMs !== 0) vi.useFakeTimers({ toFake: ['Date'] });
  const models: Readonly<Record<string, ChatModel>> = {
    'sim-target': simulatedTarget(),
    'sim-optimizer': simulatedOptimizer(),
  };
  const far = { received: 0, tokens: 0, usd: 0 };
  const server = await startFakeLLM(async (request) => {
    far.received += 1;
    if (far.received === 3 && clockMs !== 0) vi.setSystemTime(Date.now() + clockMs);
    if (far.received % 4 === 0) return { status: 503, headers: { 'retry-after-ms': '1' } };
    far.tokens += USAGE.total_tokens;
    far.usd += costUsd({ input: 700, cached: 0, output: 300 }, request.model === 'gpt-4o' ? PRICES['gpt-4o']! : PRICE);
    const reply = await models[String(request.model)]?.complete({ messages: request.messages as never });
    return { content: reply?.text ?? nightAnswer(request), usage: USAGE, delayMs };
  });
  return Object.assign(server, { far });
}

type Provider = Awaited<ReturnType<typeof startCounting>>;

const inProject = (...argv: readonly string[]) =>
  async function run({ baseURL }: Provider, flags: readonly string[]) {
    using project = projectOverHttp(baseURL, { prices, workers: 2 });
    for (const name of ['one.md', 'two.md']) writeFileSync(join(project.path, name), `# Skill ${name}\n`);
    return await project.run(...argv, '--quiet', ...flags);
  };

async function sleepRun({ baseURL }: Provider, flags: readonly string[]) {
  using home = sleepHome();
  reviewedTasks(home);
  const own = flags.map((flag) => (flag === '--max-total-tokens' ? '--max-tokens-per-night' : flag));
  const argv = nightFlags(baseURL, ...own).map((flag) => flag.replace('compatible:m@', 'compatible:gpt-4o@')); // of a known price
  return await home.run(argv);
}

/** A command, and how it runs at a provider under flags of limits. */
const COMMANDS = [
  ['train', inProject('train', '--ignore-estimate')],
  ['eval', inProject('eval', '--skill', 'one.md', '--split', 'all')],
  ['calibrate', inProject('calibrate', '--passes', '3')],
  ['compare', inProject('compare', 'one.md', 'two.md', '--split', 'train')],
  ['tasks draft', inProject('tasks', 'draft', '--skill', 'one.md', '--n', '200', '--out', 'new.jsonl')],
  ['sleep run', sleepRun],
] as const;

describe.each(COMMANDS)('%s', (name, run) => {
  it.each([1, 9, 20])('sends no more than %i calls, further tries included', async (most) => {
    await using server = await startCounting();
    const { code, err } = await run(server, ['--max-calls', String(most)]);
    expect(server.far.received).toBeLessThanOrEqual(most);
    if (name !== 'sleep run') expect([code, err]).toEqual([3, expect.stringContaining('--max-calls is reached')]);
  });

  it.each([20_000, 40_000])('uses no more than %i tokens', async (most) => {
    await using server = await startCounting();
    const { code } = await run(server, ['--max-total-tokens', String(most)]);
    expect(server.far.tokens).toBeLessThanOrEqual(most);
    expect(server.far.received).toBeGreaterThan(0);
    if (name !== 'sleep run') expect(code).toBe(3);
  });

  it.each([0.2, 0.4])('costs no more than $%d', async (most) => {
    await using server = await startCounting();
    const { code } = await run(server, ['--max-cost-usd', String(most)]);
    if (name !== 'sleep run') expect(code).toBe(3);
    expect(server.far.usd).toBeLessThanOrEqual(most);
    expect(server.far.received).toBeGreaterThan(0);
  });

  it('ends when its minutes are over, although the clock is set back', async () => {
    await using server = await startCounting({ delayMs: 120, clockMs: -HOUR_MS });
    const { code, out, err } = await run(server, ['--max-minutes', '0.01']);
    expect(`${out}${err}`).toMatch(/max-?minutes is reached/i);
    if (name !== 'sleep run') expect(code).toBe(3);
  });

  it('is not ended by a clock that is set forward', async () => {
    await using server = await startCounting({ clockMs: HOUR_MS });
    const { out, err } = await run(server, ['--max-minutes', '20']);
    expect(`${out}${err}`).not.toMatch(/max-?minutes is reached/i);
    expect(server.far.received).toBeGreaterThan(10);
  });
});

describe('try', () => {
  it.each([1, 2])('lets its agent ask its model no more than %i times', async (most) => {
    await using llm = await startFakeAgentLLM({ script: Array(9).fill({ shell: 'true' }) });
    using project = agentProject({ baseURL: llm.url });
    const { out } = await project.run(
      ...['try', 'Count the teapots.', '--agent', 'claude', '--skill', 'teapots', '--sandbox', 'none', '--json'],
      ...['--base-url', llm.url, '--max-turns', String(most)],
    );
    expect(JSON.parse(out)).toMatchObject({ run: { ended: 'turns', turns: most, calls: most } });
    expect(llm.requests).toHaveLength(most);
  });
});
