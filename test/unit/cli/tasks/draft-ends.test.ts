import { type FakeRequest, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { worldFolder } from './world-folder.ts';

const SUMS = '{"skill_topics": [{"name": "Sums", "about": "Adding."}]}';

/** A drafter that asks about the next numbers at each reply. Nobody agrees with its drafts where `isWrong` says so. */
function drafter(isWrong: (sum: number) => boolean) {
  let asked = 0;
  return ({ messages }: FakeRequest) => {
    const [system, user] = [String(messages[0]?.content), String(messages.at(-1)?.content)];
    if (system.includes('skill_topics')) return SUMS;
    if (!system.includes('task_drafts')) return `<answer>${/(\d+) twice/.exec(user)?.[1] ?? 'none'}</answer>`;
    const numbers = [1, 2, 3, 4].map((n) => 100 * ++asked + n);
    const drafts = numbers.map((n) => ({ question: `What is ${n} twice?`, answers: isWrong(n) ? 'wrong' : String(n) }));
    return JSON.stringify({ task_drafts: drafts });
  };
}

/** A project that drafts at a server with these answers. */
async function drafting(answer: (request: FakeRequest) => string, settings: object = {}) {
  const server = await startFakeLLM(answer);
  const model = { provider: 'compatible', model: 'm', baseURL: server.baseURL };
  const project = { name: 'run', skill: 'house-style', tasks: 'tasks.jsonl', target: model, optimizer: model };
  const folder = worldFolder({ 'skillopt.config.json': JSON.stringify({ ...project, ...settings }) });
  const draft = (...flags: string[]) => folder.cli('tasks', 'draft', ...flags);
  return {
    draft,
    server,
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('tasks draft that ends before all tasks are there', () => {
  it('gets other drafts from the next command', async () => {
    await using work = await drafting(drafter((n) => n % 100 > 1 || n < 500));
    const first = (await work.draft('--n', '6', '--json')).json();
    expect(first.tasks).toBeLessThan(6);
    const second = (await work.draft('--n', '6', '--json')).json();
    expect(second.calls).toBeGreaterThan(0);
    expect(second.tasks).toBeGreaterThan(first.tasks);
  });

  it('says why, and does not offer the same command where it found nothing', async () => {
    await using work = await drafting(drafter(() => true));
    const { code, out } = await work.draft('--n', '6', '--quiet');
    expect(code).toBe(0);
    expect(out).toMatch(/0 of 6 tasks .*dropped: \d+ contradicted by independent solutions/s);
    expect(out).toContain('No draft of this command was good enough');
    expect(out).not.toContain('The same command drafts more.');
  });

  it.each([
    ['maxTotalTokens', { maxTotalTokens: 9_000 }],
    ['maxMinutes', { maxMinutes: 0.000_001 }],
    ['maxCalls', { maxCalls: 3 }],
  ])('keeps %s of the project, and answers with one object', async (name, limit) => {
    await using work = await drafting(
      drafter(() => false),
      limit,
    );
    const { code, json } = await work.draft('--n', '40', '--json');
    expect(code).toBe(3);
    expect(json()).toMatchObject({ error: { code: 'BUDGET_EXHAUSTED' }, wanted: 40, calls: expect.any(Number) });
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    expect(json().error.message).toContain(`${flag} is reached`);
    expect(work.server.requests.length).toBeLessThanOrEqual(5);
  });
});
