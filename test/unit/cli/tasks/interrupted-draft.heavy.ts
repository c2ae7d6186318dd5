import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { simulatedOptimizer } from 'skillopt/sim';
import { type FakeRequest, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it, vi } from 'vitest';
import { startClone } from '../clone-cli.ts';
import { hasTerminal, KEYS, runOnTerminal } from '../clone-terminal.ts';
import { PROJECT, worldFolder } from './world-folder.ts';

vi.setConfig({ testTimeout: 400_000 }); // each starts several processes, which a busy machine does slowly

const model = simulatedOptimizer();
const reply = async ({ messages }: FakeRequest) => (await model.complete({ messages: messages as never })).text;

const projectAt = (url: string) => ({
  'skillopt.config.yaml': `name: run
skill: house-style
tasks: tasks.jsonl
target: simulated
optimizer: { provider: compatible, model: gpt-5.4, baseURL: "${url}", apiKeyEnv: FAR_KEY }
workers: 2
`,
});

describe('tasks draft that is interrupted', () => {
  it('keeps what was confirmed, ends with 130, and the same command continues', async () => {
    let hold = true;
    let kept = () => 0;
    let interrupt = () => {};
    await using server = await startFakeLLM(async (request) => {
      if (hold && kept() > 0) {
        interrupt();
        await new Promise((done) => setTimeout(done, 50));
      }
      return reply(request);
    });
    using folder = worldFolder(projectAt(server.baseURL));
    kept = () => (existsSync(join(folder.path, 'tasks.jsonl')) ? folder.rows().length : 0);
    const started = { cwd: folder.path, env: { FAR_KEY: 'dummy-key' } };
    const { child, finished } = startClone(['tasks', 'draft'], started);
    interrupt = () => {
      hold = false;
      child.kill('SIGINT');
    };
    const { code, stdout, stderr } = await finished;
    expect(code, stderr).toBe(130);
    const confirmed = folder.read('tasks.jsonl');
    const count = folder.rows().length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(40);
    expect(stdout).toContain(`${count} of 40 tasks in tasks.jsonl`);
    expect(stdout).not.toContain('next:');
    expect(stderr).toContain('run the same command again');
    expect(stderr).not.toMatch(/\n\s+at /);

    const again = await startClone(['tasks', 'draft', '--quiet'], started).finished;
    expect(again.code, again.stderr).toBe(0);
    expect(folder.read('tasks.jsonl').startsWith(confirmed)).toBe(true);
    expect(again.stdout).toContain(`${40 - count} drafted now`);
  });
});

describe.skipIf(!hasTerminal)('tasks draft, on a terminal', () => {
  it('says the likely calls and what they cost, and no is the answer that Enter gives', async () => {
    await using server = await startFakeLLM(reply);
    using folder = worldFolder(projectAt(server.baseURL));
    const { code, screen, untyped } = await runOnTerminal(
      ['tasks', 'draft'],
      { cwd: folder.path, env: { HOME: folder.path, FAR_KEY: 'dummy-key' } },
      [[/40 tasks for tasks\.jsonl by gpt-5\.4: about \d+ calls \(at most[\s\S]*about \$\d[\s\S]*No/, KEYS.enter]],
    );
    expect([code, untyped, server.requests.length], screen).toEqual([0, 0, 0]);
    expect(existsSync(join(folder.path, 'tasks.jsonl'))).toBe(false);
  });

  it('Ctrl-C at the question spends nothing; yes drafts', async () => {
    using folder = worldFolder(PROJECT);
    const draft = (key: string) =>
      runOnTerminal(['tasks', 'draft', '--n', '4'], { cwd: folder.path, env: { HOME: folder.path } }, [
        [/4 tasks for tasks\.jsonl by simulated: [\s\S]*No/, key],
      ]);
    expect(await draft(KEYS.ctrlC)).toMatchObject({ code: 130, untyped: 0 });
    expect(existsSync(join(folder.path, 'tasks.jsonl'))).toBe(false);
    const { code, screen } = await draft(KEYS.yes);
    expect(code, screen).toBe(0);
    expect(folder.rows()).toHaveLength(4);
    expect(screen).toMatch(/next: {2}node \S*skillopt.mjs tasks review/);
  });
});
