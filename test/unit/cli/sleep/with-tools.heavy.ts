import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startFakeAgentLLM, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { probeSandbox } from '../../../../src/public/workspaces.ts';
import { type TaskRecord, tasksFileText } from '../../../../src/sleep/index.ts';
import { appends } from '../../../support/scripted-run.ts';
import { answerOf, type SleepHome, sleepHome } from '../../../support/sleep/sleep-home.ts';
import { sleepTask } from '../../../support/sleep/sleep-tasks.ts';
import { filesBelow } from '../../sleep/night/night-world.ts';
import { miniClaude } from '../agent-target/mini-claude.ts';
import { startClone } from '../clone-cli.ts';

const sandbox = (await probeSandbox()).auto ?? 'none';

/** What the agent does when one of its documents says so. */
const NOTE_RULE = '- Note every change in NOTES.md.';

/** As few as can prove a gain: every attempt starts an agent, and a night makes seven of each task. */
const TASKS = 8;

/** Tasks that change a file, and are done well when the change is noted. */
const workTasks = (): TaskRecord[] =>
  [...Array(TASKS).keys()].map((at) =>
    sleepTask(`w-${at}`, {
      split: at < 2 ? 'train' : 'val',
      intent: `w${at}a w${at}b w${at}c run: echo ${at} >> src/cart.ts`,
      referenceKind: 'command',
      judge: { command: `grep -q ${at} src/cart.ts && grep -q changed NOTES.md` },
      tags: ['needs:files', 'tools:Edit+Bash'],
    }),
  );

/** One that proposes the rule, whatever it is asked. */
const startOptimizer = () => startFakeLLM(() => JSON.stringify({ ...appends(NOTE_RULE), ...appends(NOTE_RULE).patch }));

/** A project under version control, with a secret in it and a change that is not committed. */
function project(home: SleepHome): void {
  home.write('shop/src/cart.ts', 'export const cart = [];\n');
  home.write('shop/.env', 'KEY=very-secret\n');
  home.write('shop/.gitignore', 'build\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args], { cwd: home.shop });
  git('init', '--quiet');
  git('add', '--all', '--force');
  git('commit', '--quiet', '--message', 'Begin');
  home.write('shop/build/big.bin', 'ignored');
  home.write('shop/src/draft.ts', 'not committed');
}

function writeTasks(home: SleepHome, tasks: readonly TaskRecord[]): void {
  const about = { project: home.shop, transcriptSource: 'claude', nSessions: 3, targetSkillPath: '' };
  const text = tasksFileText({ ...about, tasks: [...tasks] });
  home.write('shop/tasks.json', text.replace('"reviewed": false', '"reviewed": true'));
}

type Servers = { readonly agent: { readonly url: string }; readonly optimizer: { readonly baseURL: string } };

function nightWith({ agent, optimizer }: Servers, path: string, more: object = {}): string[] {
  const target = { agent: 'claude', path, sandbox, baseURL: agent.url, model: 'claude-sonnet-4-5', ...more };
  const models = ['--target', JSON.stringify(target), '--optimizer', `compatible:m@${optimizer.baseURL}`];
  return ['run', '--tasks', 'tasks.json', ...models, '--quiet', '--no-evolve-memory'];
}

/** A home with a project, tasks that need its files, and a stand-in for the agent. */
function shop() {
  const home = sleepHome();
  project(home);
  writeTasks(home, workTasks());
  const path = join(home.path, '..', 'programs/bin/claude');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, miniClaude({ rule: NOTE_RULE.slice(2) }), { mode: 0o755 });
  return { home, path, [Symbol.dispose]: () => home[Symbol.dispose]() };
}

/** Who works in this folder. */
const processesOf = (folder: string) =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(folder);
    } catch {
      return false; // it has ended
    }
  });

/** What somebody has who adopts what a night has staged. */
async function adopt(home: SleepHome, { night, accepted }: { readonly night: number; readonly accepted: boolean }) {
  expect((await home.run(['adopt'])).code).toBe(0);
  return { night, accepted, skill: home.read('shop/.claude/skills/skillopt-sleep-learned-project/SKILL.md') };
}

describe('skillopt sleep run with an agent as the target', () => {
  let undisturbed: Awaited<ReturnType<typeof adopt>>;

  it('does tasks that need files in copies of the project, and stages what helps', async () => {
    await using agent = await startFakeAgentLLM({ script: [] });
    await using optimizer = await startOptimizer();
    using here = shop();
    const { home, path } = here;
    const before = filesBelow(home.shop);
    const report = await answerOf(home, nightWith({ agent, optimizer }, path));
    expect(report).toMatchObject({
      accepted: true,
      notReplayable: 0,
      withTools: { tasks: TASKS, needFiles: TASKS, sandbox },
      proposals: [{ id: '1' }],
    });
    expect(report.notes.join('\n')).toContain('Left out: 1 secret (.env)');
    expect(filesBelow(home.shop)).toEqual(before);
    const { input, cached, output } = agent.usage(); // the price of the agent's model is known, that of the optimizer is not
    expect(report.costUsd).toBeCloseTo((3 * (input - cached) + 0.3 * cached + 15 * output) / 1e6, 6);
    const [attempt] = JSON.parse(readFileSync(join(report.folder, 'steps/step_0001/rollout_results.json'), 'utf8')) as {
      extras: { diff: { changes: { path: string }[] } };
    }[];
    expect(attempt!.extras.diff.changes.map((change) => change.path)).toEqual(['src/cart.ts']);
    const { out } = await home.run(['status']);
    expect(out.replaceAll(/\s+/g, ' ')).toContain(`${TASKS} tasks replayed with tools (sandbox: ${sandbox})`);
    expect(out).toMatch(/last night: 1, .*, at least \$\d/);
    undisturbed = await adopt(home, report);
    expect(undisturbed).toMatchObject({ night: 1, accepted: true, skill: expect.stringContaining(NOTE_RULE) });
  }, 300_000);

  it('ends as that one, whenever it is killed, and leaves nothing behind', async () => {
    await using agent = await startFakeAgentLLM({ script: [] });
    await using optimizer = await startOptimizer();
    using here = shop();
    const { home, path } = here;
    const temporary = join(home.path, '../temporary');
    mkdirSync(temporary);
    const env = { ...home.env, PATH: process.env.PATH ?? '', TMPDIR: temporary };
    const start = () =>
      startClone(['sleep', ...nightWith({ agent, optimizer }, path), '--json'], { cwd: home.shop, env });
    for (const more of [1, 3, 5, 8]) {
      const { child, finished } = start();
      const enough = agent.calls() + more;
      await expect.poll(() => agent.calls(), { timeout: 60_000 }).toBeGreaterThanOrEqual(enough);
      child.kill('SIGKILL');
      expect((await finished).signal).toBe('SIGKILL');
    }
    const { code, stdout, stderr } = await start().finished;
    expect(code, stderr).toBe(0);
    expect(processesOf(temporary)).toEqual([]);
    const ours = readdirSync(temporary).filter((name) => name.startsWith('skillopt-rollouts'));
    const left = ours.flatMap((name) => readdirSync(join(temporary, name)));
    expect(left.filter((name) => name !== 'templates')).toEqual([]);
    expect(await adopt(home, JSON.parse(stdout))).toEqual(undisturbed);
  }, 400_000);

  it('counts its calls within --max-calls, and resumes with the commit it began from', async () => {
    await using agent = await startFakeAgentLLM({ script: [] });
    await using optimizer = await startOptimizer();
    using here = shop();
    const { home, path } = here;
    const argv = nightWith({ agent, optimizer }, path, { limits: { maxTurns: 3 } });
    const { code, err } = await home.run([...argv, '--max-calls', '8']);
    expect({ code, err }).toMatchObject({ code: 3, err: expect.stringContaining('--max-calls is reached') });
    expect(agent.calls()).toBeLessThanOrEqual(8);
    execFileSync('git', ['rm', '--quiet', 'src/cart.ts'], { cwd: home.shop });
    const commit = ['-c', 'user.name=a', '-c', 'user.email=a@localhost', 'commit', '--quiet', '--message', 'Remove'];
    execFileSync('git', commit, { cwd: home.shop });
    expect(await answerOf(home, [...argv, '--max-calls', '5000'])).toMatchObject({ night: 1, accepted: true });
  }, 300_000);

  it('an outage of its provider is a failed night, never a score', async () => {
    await using agent = await startFakeAgentLLM({ script: [] });
    await using optimizer = await startOptimizer();
    using here = shop();
    agent.failWith(401);
    const { code, out } = await here.home.run(nightWith({ agent, optimizer }, here.path));
    expect({ code, out }).toEqual({ code: 4, out: '' });
    expect(existsSync(join(here.home.state, 'state.json'))).toBe(false);
  }, 120_000);

  it('is refused before anything is paid where there is no sandbox, with three ways out', async () => {
    await using agent = await startFakeAgentLLM({ script: [] });
    await using optimizer = await startOptimizer();
    using here = shop();
    const { home, path } = here;
    const empty = join(home.path, 'empty');
    mkdirSync(empty);
    const realPath = process.env.PATH;
    process.env.PATH = empty;
    try {
      const { code, err } = await home.run(nightWith({ agent, optimizer }, path, { sandbox: 'auto' }));
      expect(code).toBe(2);
      for (const way of ['Install bubblewrap', '{ container: IMAGE }', 'sandbox: none']) expect(err).toContain(way);
    } finally {
      process.env.PATH = realPath;
    }
    expect(agent.requests.length + optimizer.requests.length).toBe(0);
  });

  it('is refused where the limit of tokens has no room for an attempt', async () => {
    await using agent = await startFakeAgentLLM({ script: [] });
    await using optimizer = await startOptimizer();
    using here = shop();
    const argv = [...nightWith({ agent, optimizer }, here.path), '--max-tokens-per-night', '400000'];
    const { code, err } = await here.home.run(argv);
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('one attempt with tools may take') });
    expect(optimizer.requests).toHaveLength(0);
  });
});

describe('skillopt sleep run without an agent', () => {
  it('counts tasks that need files, and says how they can be replayed', async () => {
    await using optimizer = await startOptimizer();
    using here = shop();
    const argv = ['run', '--tasks', 'tasks.json', '--target', `compatible:m@${optimizer.baseURL}`, '--quiet'];
    const { out } = await here.home.run(argv);
    const shown = out.replaceAll(/\s+/g, ' ');
    expect(shown).toContain('8 tasks need files or tools: not replayable yet; name an agent as the target');
    expect(shown).toContain('target: { agent: claude }');
  });
});

describe('skillopt sleep run --plan with an agent', () => {
  it('names the sandbox, the copy and what is left out of it', async () => {
    using here = shop();
    const { home, path } = here;
    home.said();
    writeFileSync(
      join(home.shop, 'skillopt.config.json'),
      JSON.stringify({
        sandbox,
        target: { agent: 'claude', path, baseURL: 'http://127.0.0.1:9' },
        optimizer: 'compatible:m@http://127.0.0.1:9/v1',
      }),
    );
    const { out, code } = await home.run(['run', '--plan']);
    const shown = out.replaceAll(/\s+/g, ' ');
    expect(code).toBe(0);
    expect(shown).toContain(`claude does every task with tools (sandbox: ${sandbox}), each in a fresh copy of 3 files`);
    expect(shown).toContain('Left out of the copy: 1 secret (.env).');
    expect(shown).not.toContain('not ready');
  });
});
