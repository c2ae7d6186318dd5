import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createStageDeps, runRollout, SkillError } from 'skillopt';
import { scripted } from 'skillopt/models';
import { WorkspaceTask, type WorkspaceTaskInput, workspaceEnv } from 'skillopt/runners';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandbox as best, shellAgent, skillThatDoes } from './shell-agent.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verifier-crash-'));
});
afterAll(() => rm(folder, { recursive: true }));

type Options = { onVerifierCrash?: 'fail' | 'stop'; sandbox?: typeof best; workFolder?: string };

/** What becomes of work that an agent does as the skill says. */
async function attempt(task: Partial<WorkspaceTaskInput>, lines: string[], options: Options = {}) {
  const { sandbox = best, workFolder, ...own } = options;
  const item = WorkspaceTask.parse({ id: 'one', prompt: 'Do it.', ...task });
  const env = workspaceEnv({ name: 'shop', items: { val: [item] }, folder: '/nonexistent', sandbox, ...own });
  const { agent, calls } = shellAgent();
  const none = scripted('none', () => ({ text: '' }));
  const deps = createStageDeps({ target: none, optimizer: none, agent, maxErroredShare: 1, workFolder });
  const [result] = await runRollout({ env, skill: skillThatDoes(...lines), items: [item] }, deps);
  return { ...result!, calls: calls.length };
}

/** Not done where there is no program; otherwise it says what the program says. */
const runsProgram = 'test -f prog || exit 1; sh ./prog';
const written = (name: string, text: string) => `echo '${text}' > "$SKILLOPT_VERDICT_DIR/${name}"`;

describe('a verifier that gives no verdict on bad work, and one where nobody has worked', () => {
  const prog = (text: string) => [`echo '${text}' > prog`];
  it.each<[string, WorkspaceTaskInput['verify'], string[], string]>([
    ['crashes', runsProgram, prog('kill -SEGV $$'), 'signal 11'],
    ['is killed', runsProgram, prog('kill -KILL $$'), 'signal 9'],
    ['hangs', { command: runsProgram, timeoutMs: 700 }, prog('sleep 60'), 'more than 700 ms'],
    ['ends with 126', 'test -f prog || exit 1; ./prog', prog('true'), 'exit code 126'],
    ['ends with 127', runsProgram, prog('no-such-program'), 'exit code 127'],
    [
      'writes no reward',
      { command: `test -f prog || ${written('reward.txt', '0')}`, verdict: 'reward' },
      prog('true'),
      'it wrote no reward',
    ],
    [
      'writes a broken reward',
      {
        command: `test -f prog && ${written('reward.txt', 'NaN')} || ${written('reward.txt', '0')}`,
        verdict: 'reward',
      },
      prog('true'),
      'its reward is no number',
    ],
    [
      'writes no report',
      { command: `test -f prog || ${written('junit.xml', '<testsuite></testsuite>')}`, verdict: 'junit' },
      prog('true'),
      'it wrote no report',
    ],
    [
      'prints no verdict',
      { command: 'test -f prog && cat prog || echo 0', verdict: 'json' },
      prog('Traceback'),
      'its last line is no verdict',
    ],
    [
      'cannot lay its files over the work',
      { command: 'false', files: { 'tests/check.sh': 'false' } },
      ['mkdir tests', 'touch tests/x', 'chmod 000 tests', 'chmod 555 .'],
      'could not be laid',
    ],
  ])('%s: the work is worth 0, and the reason is told', async (_, verify, lines, reason) => {
    const result = await attempt({ verify }, lines);
    if (reason === 'could not be laid' && result.failReason === 'exit code 1') return; // root may write anywhere
    expect(result).toMatchObject({ hard: 0, soft: 0, failReason: expect.stringContaining(reason) });
    expect(result).not.toHaveProperty('errored');
  });

  it('uses too much memory: the same', async () => {
    const grow = `echo 'x=$(head -c 300000000 /dev/zero | tr "\\\\0" x); echo \${#x}' > prog`;
    const result = await attempt({ verify: runsProgram, limits: { memoryMb: 64 } }, [grow]);
    expect(result).toMatchObject({ hard: 0, failReason: expect.stringContaining('gave no verdict on this work') });
    expect(result).not.toHaveProperty('errored');
  });

  it('has no score with onVerifierCrash: stop', async () => {
    const result = await attempt({ verify: runsProgram }, prog('kill -SEGV $$'), { onVerifierCrash: 'stop' });
    expect(result).toMatchObject({ errored: true, unjudged: true, failReason: expect.stringContaining('signal 11') });
  });
});

describe('an outage', () => {
  /** Works for the first trial of a verifier. From then on verifiers end as the machine lets them. */
  const failing = (fail: typeof best.run) => {
    let verified = 0;
    const run: typeof best.run = (request) =>
      request.env?.SKILLOPT_VERDICT_DIR && verified++ > 0 ? fail(request) : best.run(request);
    return { sandbox: { ...best, run } };
  };

  it('of the verifier since the first trial is no score: it gives no verdict without work either', async () => {
    const lost = failing((request) => best.run({ ...request, command: ['/bin/sh', '-c', 'exit 127'] }));
    expect(await attempt({ verify: 'false' }, ['true'], lost)).toMatchObject({
      errored: true,
      unjudged: true,
      calls: 1,
    });
  });

  it('of the sandbox is no score', async () => {
    const down = failing(() => Promise.reject(new Error('no sandbox today')));
    const result = await attempt({ verify: 'false' }, ['true'], down);
    expect(result).toMatchObject({ errored: true, failReason: expect.stringContaining('no sandbox today'), calls: 1 });
  });
});

it.skipIf(best.id === 'none').each<[string, Partial<WorkspaceTaskInput>]>([
  ['verifier', { verify: 'false' }],
  ['reader of an assertion', { assertions: [{ type: 'file_exists', path: 'a.txt' }] }],
])('a sandbox of the %s that fails with the exit code of a verdict is no score', async (_, task) => {
  let asked = 0;
  const gone = [{ from: '/no/such/folder', to: '/data' }];
  const isScoring = (request: Parameters<typeof best.run>[0]) =>
    request.env?.SKILLOPT_VERDICT_DIR ? asked++ > 0 : request.command.at(-1) === 'a.txt';
  const run: typeof best.run = (request) => best.run(isScoring(request) ? { ...request, mounts: gone } : request);
  const result = await attempt(task, ['true'], { sandbox: { ...best, run } });
  expect(result).toMatchObject({ errored: true, unjudged: true, calls: 1 });
  expect(result.failReason).toContain('the sandbox failed: bwrap: ');
});

it('a verifier whose program the work took away has met bad work', async () => {
  const task = { files: { 'check.sh': '#!/bin/sh\nfalse\n' }, verify: ['./check.sh'] };
  expect(await attempt(task, ['rm check.sh'])).toMatchObject({
    hard: 0,
    failReason: expect.stringContaining('exit code 127'),
  });
});

describe('finished work that could not be judged', () => {
  const work = ['mkdir -p a/b', 'echo seven > a/b/out.txt', 'rm in.txt', 'ln -s a/b link', 'chmod 755 a/b/out.txt'];
  const files = { 'in.txt': 'six\n', 'other.txt': 'stays\n' };
  const stop = 'stop' as const;

  it('is kept, judged again with a verifier that works, and then forgotten: the agent works once', async () => {
    const workFolder = join(folder, 'work');
    const broken = { files, verify: 'test -f a/b/out.txt && exit 127; exit 1' };
    const first = await attempt(broken, work, { workFolder, onVerifierCrash: stop });
    expect(first).toMatchObject({ errored: true, calls: 1 });
    expect(await readdir(workFolder)).toHaveLength(1);
    const check = 'test -x a/b/out.txt && grep -q seven link/out.txt && test ! -e in.txt && grep -q stays other.txt';
    const second = await attempt({ files, verify: check }, work, { workFolder, onVerifierCrash: stop });
    expect(second).toMatchObject({ hard: 1, calls: 0, nTurns: first.nTurns, extras: { diff: first.extras!.diff } });
    expect(await readdir(workFolder)).toEqual([]);
    expect(await attempt({ files, verify: check }, work, { workFolder })).toMatchObject({ hard: 1, calls: 1 });
  });

  it('is another’s if the skill or the task is another', async () => {
    const workFolder = join(folder, 'others');
    const verify = 'test -f a/b/out.txt && exit 127; exit 1';
    await attempt({ files, verify }, work, { workFolder, onVerifierCrash: stop });
    const other = await attempt({ files, verify: 'true' }, [...work, 'true'], { workFolder });
    const prompt = await attempt({ files, prompt: 'Do more.', verify: 'true' }, work, { workFolder });
    expect([other.calls, prompt.calls]).toEqual([1, 1]);
  });

  it('is done again if what was kept is broken', async () => {
    const workFolder = join(folder, 'broken');
    const verify = 'test -f a/b/out.txt && exit 127; exit 1';
    await attempt({ files, verify }, work, { workFolder, onVerifierCrash: stop });
    const [key] = await readdir(workFolder);
    await writeFile(join(workFolder, key!, 'work.tar'), 'no archive');
    expect(await attempt({ files, verify: 'test -f a/b/out.txt' }, work, { workFolder })).toMatchObject({
      hard: 1,
      calls: 1,
    });
  });
});

it('an attempt that is made again starts from an untouched workspace', async () => {
  const item = WorkspaceTask.parse({
    ...{ id: 'one', prompt: 'Do it.', files: { 'in.txt': 'six\n' } },
    verify: 'test ! -e left.txt && grep -q six in.txt && test "$(ls -A)" = in.txt',
  });
  const env = workspaceEnv({ name: 'shop', items: { val: [item] }, folder: '/nonexistent', sandbox: best });
  const { agent } = shellAgent();
  let attempts = 0;
  const breaking: typeof agent = {
    ...agent,
    async run(request) {
      const ended = await agent.run(request);
      if (++attempts > 1) return ended;
      const command = ['/bin/sh', '-c', 'echo half > left.txt; echo seven > in.txt; chmod 000 in.txt; mkdir .hidden'];
      await best.run({ command, workspace: request.workspace, timeoutMs: 30_000 });
      throw new SkillError('ENV_FAILED', 'the agent broke off');
    },
  };
  const none = scripted('none', () => ({ text: '' }));
  const work = { workFolder: join(folder, 'again') };
  const attempted = () => {
    const deps = createStageDeps({ target: none, optimizer: none, agent: breaking, maxErroredShare: 1, ...work });
    return runRollout({ env, skill: skillThatDoes('true'), items: [item] }, deps);
  };
  await expect(attempted()).rejects.toThrow('the agent broke off');
  expect([(await attempted())[0], attempts]).toMatchObject([{ hard: 1 }, 2]);
});
