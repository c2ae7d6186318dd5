import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import {
  nightFolder,
  openSleepState,
  recordProposal,
  type TaskRecord,
  tasksFileText,
} from '../../../../src/sleep/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { answerOf, type SleepHome, sleepHome } from '../../../support/sleep/sleep-home.ts';
import { doneTasks, RULE } from '../../sleep/night/night-world.ts';
import { nightAnswer, nightFlags } from './night-over-http.ts';
import { propose } from './pending.ts';

const startModel = () => startFakeLLM(nightAnswer);

/** A file of tasks in the project, as `harvest --output` writes it. */
function tasksFile(home: SleepHome, reviewed: boolean, tasks = doneTasks()): string {
  const text = tasksFileText({
    ...{ project: home.shop, transcriptSource: 'claude', nSessions: 3, targetSkillPath: '' },
    tasks,
  });
  home.write('shop/tasks.json', text.replace('"reviewed": false', `"reviewed": ${reviewed}`));
  return 'tasks.json';
}

const stateFile = ({ state }: SleepHome) => join(state, 'state.json');

/** A night is a run that runs, show and diff know by name, also from a folder of the project. */
async function expectKnownByName(home: SleepHome): Promise<void> {
  home.write('shop/src/index.ts', '');
  const call = async (cwd: string, ...argv: string[]) => {
    const io = captureIo({ cwd, env: home.env });
    return { code: await runCli([...argv, '--json'], io), answer: JSON.parse(io.out()) };
  };
  const { answer: listed } = await call(home.shop, 'runs');
  expect(listed.runs).toMatchObject([{ name: 'night-1.memory' }, { name: 'night-1', accepted: 1 }]);
  expect((await call(home.blog, 'runs')).answer.runs).toEqual([]);
  const shown = await call(join(home.shop, 'src'), 'show', 'night-1');
  expect(shown).toMatchObject({ code: 0, answer: { name: '1' } });
  expect((await call(home.shop, 'diff', 'night-1')).answer.patch).toContain(`+${RULE}`);
  expect((await call(home.shop, 'show', 'night-7')).answer.error.code).toBe('RUN_NOT_FOUND');
}

/** A night is shown as its report has it, with short commands. The search behind it has no figures of its own. */
async function expectShownAsReported(home: SleepHome, out: string): Promise<void> {
  const show = async (...argv: string[]) => {
    const io = captureIo({ cwd: home.shop, env: home.env });
    return { code: await runCli(['show', ...argv], io), out: io.out(), err: io.err() };
  };
  const [report, next] = out.split('\nnext:');
  const waiting = await show('night-1');
  expect(waiting.out.split('\nnext:')[0]).toBe(report);
  expect(waiting.out.split('\nnext:')[1]!.replaceAll(/ +/g, ' ')).toContain(
    next!.trim().split('\n')[0]!.replaceAll(/ +/g, ' '),
  );
  {
    await using open = await openSleepState(home.state);
    const [proposal] = open.state.proposals;
    await open.update((state) => recordProposal(state, { ...proposal!, block: '- Kept by hand.' }));
    const reviewed = (await show('night-1')).out;
    expect(reviewed).toContain('- Kept by hand.');
    expect(reviewed).toContain('Reviewed since the night');
    await open.update((state) => recordProposal(state, proposal!));
  }
  await home.run(['adopt']);
  const adopted = (await show('night-1')).out;
  expect(adopted).toContain('skillopt sleep rollback --night 1 ');
  expect(adopted).not.toContain('skillopt sleep adopt');
  for (const name of ['night-1', 'night-1.memory']) {
    const { out: search } = await show(name, '--all');
    expect(search).toContain('next:  npx skillopt show night-1  tells what came of it\n');
  }
}

describe('skillopt sleep run', () => {
  it('says what it will cost before it asks anybody', async () => {
    await using server = await startModel();
    using home = sleepHome();
    for (const id of ['s-1', 's-2', 's-3']) home.said({ id });
    const { err } = await home.run(['run', '--target', `compatible:m@${server.baseURL}`, '--no-llm-mine']);
    expect(err).toMatch(
      /estimate: about \S+ calls \(\S+\), \S+ tokens .*, about \S+ minutes; share of a usage limit: unknown\n/,
    );
    const { err: quiet } = await home.run(['dry-run', '--target', `compatible:m@${server.baseURL}`, '--quiet']);
    expect(quiet).not.toContain('estimate:');
  });
});

describe('skillopt sleep run --tasks', () => {
  it('spends a night on reviewed tasks, and shows the report', async () => {
    await using server = await startModel();
    using home = sleepHome();
    tasksFile(home, true);
    const { code, out, err } = await home.run(nightFlags(server.baseURL));
    expect({ code, errors: err.match(/error:.*/g) }).toEqual({ code: 0, errors: null });
    expect(out).toMatch(/^night 1\n0 sessions, 12 tasks\n/);
    expect(out).toMatch(/skillopt-sleep-learned-project, proposed: \+\d+\.\d points on held-out tasks/);
    expect(out).toContain(`+${RULE}`);
    expect(out).toMatch(/improved +0 → 100/);
    expect(out).toContain(`cost: ${server.requests.length} calls`);
    expect(out).toContain('skillopt sleep adopt');
    const files = readdirSync(home.state, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const modes = new Set(files.map((file) => home.mode(join(file.parentPath, file.name))));
    expect([...modes]).toEqual(['600']);
    await expectKnownByName(home);
    await expectShownAsReported(home, out);
    expect(home.read('shop/.claude/skills/skillopt-sleep-learned-project/SKILL.md')).toContain(RULE);
  });

  it('improves the skill that the file names, and notes checks that are seldom meant', async () => {
    await using server = await startModel();
    using home = sleepHome();
    home.write('skills/deploy/SKILL.md', '---\nname: deploy\ndescription: d\n---\n');
    const [first, ...others] = doneTasks();
    const idle = {
      ...first!,
      judge: {
        checks: [
          { op: 'contains', arg: 'DONE' },
          { op: 'min_chars', arg: 0 },
        ],
      },
    };
    tasksFile(home, true, [idle, ...others]);
    const text = home.read('shop/tasks.json');
    home.write('shop/tasks.json', text.replace('"target_skill_path": ""', '"target_skill_path": "~/skills/deploy"'));
    const { proposals, notes } = await answerOf(home, nightFlags(server.baseURL, '--no-evolve-memory'));
    expect(proposals).toMatchObject([{ path: join(home.path, 'skills/deploy/SKILL.md') }]);
    expect(notes.join('\n')).toContain('min_chars 0 holds of every answer');
  });

  it('a request that comes again under another name stays on its side, whatever the file says', async () => {
    await using server = await startModel();
    using home = sleepHome();
    const first = doneTasks().map((task) => ({ ...task, project: home.shop }));
    tasksFile(home, true, first);
    await home.run(nightFlags(server.baseURL));
    const night = async (splitOf: (split: string) => TaskRecord['split']) => {
      const again = first.map((task) => ({ ...task, id: `again-${task.id}`, split: splitOf(task.split) }));
      tasksFile(home, true, again);
      const report = await answerOf(home, nightFlags(server.baseURL));
      const { tasks } = JSON.parse(readFileSync(join(report.folder, 'night.json'), 'utf8')) as { tasks: TaskRecord[] };
      const sides = tasks.map(({ intent, split }) => `${intent.match(/train|val/)} ${split}`);
      return { sides: sides.sort(), notes: report.notes.join('\n') };
    };
    const unsplit = await night(() => 'train');
    expect(new Set(unsplit.sides)).toEqual(new Set(['train train', 'val val']));
    expect(unsplit.sides.filter((side) => side === 'val val')).toHaveLength(8);
    const swapped = await night((split) => (split === 'train' ? 'val' : 'train'));
    expect(swapped.sides).not.toContain('train val');
    expect(swapped.notes).toContain('4 held-out tasks are left out of the proof');
    const { taskArchive } = JSON.parse(readFileSync(stateFile(home), 'utf8'));
    tasksFile(
      home,
      true,
      [...doneTasks('u'), ...doneTasks('v')].map((task) => ({ ...task, project: home.shop })),
    );
    const { folder } = await answerOf(home, nightFlags(server.baseURL));
    const { tasks } = JSON.parse(readFileSync(join(folder, 'night.json'), 'utf8')) as { tasks: TaskRecord[] };
    expect(taskArchive.length).toBeGreaterThan(0);
    expect(tasks.filter(({ id, split }) => split === 'val' && !/^[uv]/.test(id))).toEqual([]);
  });

  it.each(['shop', 'blog'] as const)('says commands that work while another proposal waits, from %s', async (where) => {
    await using server = await startModel();
    using home = sleepHome();
    tasksFile(home, true);
    home.write('shop/AGENTS.md', 'a\n');
    await propose(home, { name: 'AGENTS.md', night: 7, id: '7.memory' });
    const here = { cwd: home[where] };
    const tasks = ['--tasks', join(home.shop, 'tasks.json'), '--project', home.shop];
    const { out } = await home.run([...nightFlags(server.baseURL), ...tasks], here);
    const [review, adopt] = [...out.matchAll(/skillopt sleep (\w+ --night.*?)( {2}.*)?\n/g)].map((found) => found[1]!);
    expect(await home.run(review!.split(' '), here)).toMatchObject({ code: 0, err: '' });
    expect(await home.run(adopt!.split(' '), here)).toMatchObject({ code: 0, err: '' });
    expect(home.read('shop/.claude/skills/skillopt-sleep-learned-project/SKILL.md')).toContain(RULE);
    expect(home.read('shop/AGENTS.md')).toBe('a\n');
    const page = readFileSync(join(nightFolder(home.state, home.shop, 1), 'report.md'), 'utf8');
    expect(page).toContain('Adopt it with `skillopt sleep adopt --night 1`.');
  });

  it('that trained nothing is shown too, with why said once', async () => {
    await using server = await startModel();
    using home = sleepHome();
    home.said();
    await home.run(['run', '--target', `compatible:m@${server.baseURL}`, '--no-llm-mine', '--quiet']);
    const io = captureIo({ cwd: home.shop, env: home.env });
    expect(await runCli(['show', 'night-1'], io)).toBe(0);
    const shown = io.out().replaceAll('\n', ' ');
    const why = /Nothing is proposed\. (.*?)[.;]/.exec(shown)![1]!;
    expect(shown.split(why)).toHaveLength(2);
    const page = readFileSync(join(nightFolder(home.state, home.shop, 1), 'report.md'), 'utf8');
    expect(page.split(why)).toHaveLength(2);
  });

  it('refuses tasks that nobody has reviewed, and asks no model', async () => {
    await using server = await startModel();
    using home = sleepHome();
    tasksFile(home, false);
    const { code, err } = await home.run(nightFlags(server.baseURL));
    expect(code).toBe(2);
    expect(err).toContain('expected reviewed tasks for real models');
    expect(err).toContain('"reviewed": true');
    expect(server.requests).toHaveLength(0);
  });

  it('without consent and without a terminal is refused, and nothing is sent', async () => {
    await using server = await startModel();
    using home = sleepHome();
    tasksFile(home, true);
    home.env.QWEN_CHAT_BASE_URL = server.baseURL.replace('127.0.0.1', '[::ffff:127.0.0.1]'); // nobody takes it for this machine
    home.env.QWEN_CHAT_API_KEY = 'dummy-key';
    const argv = ['run', '--tasks', 'tasks.json', '--target', 'qwen:m', '--quiet'];
    const { code, out } = await home.run([...argv, '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(out).error).toMatchObject({ code: 'CONSENT_MISSING' });
    expect(server.requests).toHaveLength(0);
    const provider = `qwen@${new URL(home.env.QWEN_CHAT_BASE_URL).href}`;
    expect((await home.run([...argv, '--consent', provider])).code).toBe(0);
    expect(server.requests.length).toBeGreaterThan(0);
  });

  it('stops at --max-calls, and the same command with more of them resumes', async () => {
    await using whole = await startModel();
    using other = sleepHome();
    tasksFile(other, true);
    await other.run(nightFlags(whole.baseURL));
    await using server = await startModel();
    using home = sleepHome();
    tasksFile(home, true);
    const { code, err } = await home.run(nightFlags(server.baseURL, '--max-calls', '5'));
    expect(code).toBe(3);
    expect(err).toContain('--max-calls 5 is too few for a proposal: 12 tasks, 8 of them held out: about 73 calls');
    expect(err).toContain('--max-calls is reached: 5 of 5 calls are spent');
    expect(server.requests.length).toBeLessThanOrEqual(5);
    expect(existsSync(stateFile(home))).toBe(false);
    const resumed = await answerOf(home, nightFlags(server.baseURL, '--max-calls', '1000'));
    expect(resumed).toMatchObject({ night: 1, accepted: true, isDryRun: false, nTasks: 12, proposals: [{ id: '1' }] });
    expect(existsSync(join(resumed.folder, 'report.md'))).toBe(true);
    expect(server.requests).toHaveLength(whole.requests.length);
  });

  it('a server that is out of order is no night without a gain', async () => {
    await using server = await startFakeLLM(() => ({ status: 401, content: 'the key is not valid' }));
    using home = sleepHome();
    tasksFile(home, true);
    const { code, err, out } = await home.run(nightFlags(server.baseURL));
    expect({ code, out }).toEqual({ code: 4, out: '' });
    expect(err).toContain('the key is not valid');
    expect(existsSync(stateFile(home))).toBe(false);
  });
});

describe('skillopt sleep dry-run', () => {
  it('reports and keeps nothing', async () => {
    await using server = await startModel();
    using home = sleepHome();
    tasksFile(home, true);
    const [, ...flags] = nightFlags(server.baseURL);
    const { code, out } = await home.run(['dry-run', ...flags]);
    expect(code).toBe(0);
    expect(out).toContain(`+${RULE}`);
    expect(out).toContain('a dry run: nothing is kept');
    expect(readdirSync(home.state)).not.toContain('state.json');
    expect(readdirSync(home.state)).not.toContain('nights');
  });
});

describe('skillopt demo sleep', () => {
  it('after Ctrl-C does not claim that it resumes', async () => {
    const io = captureIo({ columns: 400 });
    const work = runCli(['demo', 'sleep', '--nights', '1'], io);
    while (io.listeners('SIGINT') === 0) await new Promise((done) => setTimeout(done, 1));
    io.emit('SIGINT');
    expect(await work).toBe(130);
    expect(io.err()).toContain('Nothing was kept: the same command begins again');
    expect(io.err()).not.toContain('resumes');
  }, 60_000);

  it('plays real nights offline', async () => {
    const io = captureIo();
    expect(await runCli(['demo', 'sleep', '--nights', '1', '--quiet', '--json'], io)).toBe(0);
    const { start, best, nights } = JSON.parse(io.out());
    expect(nights).toMatchObject([{ night: 1, sessions: 6 }]);
    expect(nights[0].score).toBeGreaterThanOrEqual(start);
    expect(best).toBeGreaterThanOrEqual(start);
    expect(io.err()).toBe('');
  }, 60_000);
});
