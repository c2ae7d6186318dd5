import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** Two of three train tasks are right, one of two val tasks, the only test task; extras may say that all are wrong. */
const ENV = `
const RIGHT = ['train0', 'train1', 'val0', 'test0'];
const tasks = (split, n) => Array.from({ length: n }, (_, k) => ({ id: split + k }));
export default ({ defineEnv, z, project }) => defineEnv({
  name: 'marks', schema: z.object({ id: z.string() }),
  items: { train: tasks('train', 3), val: tasks('val', 2), test: tasks('test', project.extras.no_test ? 0 : 1) },
  initialSkill: '# Skill',
  async rolloutOne({ item: { id }, extras }) {
    const hard = RIGHT.includes(id) && !extras.all_wrong ? 1 : 0;
    return { hard, soft: hard, taskType: id.endsWith('0') ? 'first' : 'later' };
  },
});`;

function project(config = 'env: ./env.mjs\ntarget: simulated\noptimizer: simulated\n', file = 'skillopt.config.yaml') {
  const folder = tempFolder({ [file]: config, 'env.mjs': ENV, 'SKILL.md': '# Skill' });
  return {
    ...folder,
    async cli(...argv: string[]) {
      const io = captureIo({ cwd: folder.path, columns: 100 });
      const code = await runCli(argv, io);
      return { code, out: io.out(), err: io.err(), json: () => JSON.parse(io.out()) };
    },
    read: (path: string) => JSON.parse(readFileSync(join(folder.path, path), 'utf8')),
  };
}

const evaluate = ['eval', '--skill', 'SKILL.md', '--quiet'];

describe('eval --split all', () => {
  it('scores each split, and all tasks together', async () => {
    using folder = project();
    const { code, out, err } = await folder.cli(...evaluate, '--split', 'all');
    expect([code, err]).toEqual([0, '']);
    expect(out.trimEnd().split('\n')).toEqual([
      '66.7 % hard, 66.7 % soft on 6 tasks of all splits with SKILL.md',
      '0 calls, $0.00',
      'test looks: 1',
      '',
      'split     hard     soft  tasks',
      'train   66.7 %   66.7 %      3',
      'val     50.0 %   50.0 %      2',
      'test   100.0 %  100.0 %      1',
      '',
      'task type     hard     soft  tasks',
      'first      100.0 %  100.0 %      3',
      'later       33.3 %   33.3 %      3',
    ]);
  });

  it('answers the same with --json', async () => {
    using folder = project();
    const { json } = await folder.cli(...evaluate, '--split', 'all', '--json');
    expect(json()).toMatchObject({
      skill: 'SKILL.md',
      split: 'all',
      hard: 4 / 6,
      n: 6,
      errored: 0,
      testLooks: 1,
      splits: { train: { hard: 2 / 3, n: 3 }, val: { hard: 0.5, n: 2 }, test: { hard: 1, n: 1 } },
      buckets: { overall: { total: 6 }, first: { total: 3, hard: 1 } },
    });
  });

  it('is a look at the test tasks, the same as that of --split test', async () => {
    using folder = project();
    expect((await folder.cli(...evaluate, '--split', 'all', '--json')).json().testLooks).toBe(1);
    expect((await folder.cli(...evaluate, '--split', 'test', '--json')).json().testLooks).toBe(1);
    expect((await folder.cli(...evaluate, '--split', 'all', '--no-cache', '--json')).json().testLooks).toBe(2);
  });

  it('leaves an empty split out, says so, and has not looked', async () => {
    using folder = project();
    const { err, json } = await folder.cli(...evaluate, '--split', 'all', '--json', '--set', 'env.no_test=true');
    expect(err).toBe('warning: left out: the test split of marks is empty\n');
    expect(json().splits).toMatchObject({ train: { n: 3 }, val: { n: 2 } });
    expect(json()).not.toHaveProperty('testLooks');
    expect(existsSync(join(folder.path, 'runs/test_looks.jsonl'))).toBe(false);
  });

  it('writes all of it, and each split by itself', async () => {
    using folder = project();
    await folder.cli(...evaluate, '--split', 'all', '--out', 'scores');
    expect(folder.read('scores/results.json')).toHaveLength(6);
    expect(folder.read('scores/summary.json')).toMatchObject({ n: 6 });
    expect(folder.read('scores/val/results.json')).toHaveLength(2);
    expect(folder.read('scores/train/summary.json')).toMatchObject({ n: 3 });
    await folder.cli(...evaluate, '--split', 'val', '--out', 'one');
    expect(existsSync(join(folder.path, 'one/val'))).toBe(false);
  });
});

describe('--set', () => {
  it('changes what eval measures', async () => {
    using folder = project();
    const hard = async (...set: string[]) => (await folder.cli(...evaluate, '--json', ...set)).json().hard;
    expect([await hard(), await hard('--set', 'env.all_wrong=yes')]).toEqual([1, 0]);
  });

  it('works over a config of SkillOpt, for eval and for doctor', async () => {
    using folder = project(
      'env: { name: ./env.mjs, all_wrong: yes }\ntarget: simulated\noptimizer: { provider: simulated }\n',
      'x.yaml',
    );
    const skillopt = ['--config', 'x.yaml', '--json'];
    expect((await folder.cli(...evaluate, ...skillopt)).json().hard).toBe(0);
    expect((await folder.cli(...evaluate, ...skillopt, '--set', 'env.all_wrong=no')).json().hard).toBe(1);
    const doctor = await folder.cli('doctor', ...skillopt, '--set', 'train.train_size=99');
    expect(doctor.code).toBe(2);
    expect(doctor.json().checks).toContainEqual(
      expect.objectContaining({
        name: 'tasks',
        isOk: false,
        detail: 'trainSize is 99, but the data has 3 training tasks',
      }),
    );
    expect((await folder.cli('doctor', ...skillopt, '--set', 'train.train_size=3')).code).toBe(0);
  });

  it.each(['eval', 'doctor'])('of %s is in its help, and refuses what it does not know', async (command) => {
    using folder = project();
    expect((await folder.cli(command, '--help')).out).toContain('--set <key=value>');
    const needed = command === 'eval' ? ['--skill', 'SKILL.md'] : [];
    const { code, out, err } = await folder.cli(command, ...needed, '--set', 'train.bach_size=3');
    expect(code).toBe(2);
    expect(out + err).toContain('--set: unknown key train.bach_size — did you mean train.batch_size?');
  });
});

describe('tasks of a measurement', () => {
  const config = 'env: ./env.mjs\ntarget: simulated\noptimizer: simulated\nselEnvNum: 1\ntestEnvNum: 2\n';
  const more = ENV.replace('project.extras.no_test ? 0 : 1', '3');

  it('are as many as a run would take', async () => {
    using folder = project(config);
    writeFileSync(join(folder.path, 'env.mjs'), more);
    expect((await folder.cli(...evaluate, '--json')).json()).toMatchObject({ n: 2 });
    expect((await folder.cli(...evaluate, '--split', 'val', '--json')).json()).toMatchObject({ n: 1 });
    expect((await folder.cli('calibrate', '--quiet', '--json')).json()).toMatchObject({ items: 1 });
  });

  it("are chosen in SkillOpt's words for calibrate too", async () => {
    using folder = project();
    const { json } = await folder.cli('calibrate', '--quiet', '--json', '--set', 'evaluation.sel_env_num=1');
    expect(json()).toMatchObject({ items: 1 });
  });
});

describe('eval of a document', () => {
  it.each([
    ['random bytes', Buffer.from([0x89, 0x50, 0x4e, 0xc3, 0x28, 0xff])],
    ['a text in UTF-16', Buffer.from('# Skill', 'utf16le')],
  ])('refuses %s before anything is asked', async (_, bytes) => {
    using folder = project();
    writeFileSync(join(folder.path, 'bin.md'), bytes);
    const { code, out, err } = await folder.cli('eval', '--skill', 'bin.md');
    expect([code, out]).toEqual([2, '']);
    expect(err.replace(/\s+/g, ' ')).toContain('bin.md cannot be read: expected a text in UTF-8, got other bytes');
    expect((await folder.cli('train', '--skill', 'bin.md')).code).toBe(2);
  });

  it('takes any text for one', async () => {
    using folder = project();
    writeFileSync(join(folder.path, 'passwd'), 'root:x:0:0:Wurzel ü:/root:/bin/sh\n');
    expect((await folder.cli('eval', '--skill', 'passwd', '--quiet')).code).toBe(0);
  });
});

describe('eval at its limit', () => {
  const tasks = Array.from({ length: 6 }, (_, k) =>
    JSON.stringify({ question: `q${k}`, answers: ['a'], split: 'test' }),
  );
  const config = 'tasks: tasks.jsonl\ntarget: simulated\noptimizer: simulated\nworkers: 1\n';
  const limited = (...flags: string[]) => ['eval', '--skill', 'SKILL.md', '--quiet', '--max-calls', '2', ...flags];

  it('promises to resume only what is kept', async () => {
    using folder = project(config);
    writeFileSync(join(folder.path, 'tasks.jsonl'), tasks.join('\n'));
    const [lost, kept] = [await folder.cli(...limited('--no-cache')), await folder.cli(...limited())];
    expect([lost.code, kept.code]).toEqual([3, 3]);
    expect(kept.err.replace(/\s+/g, ' ')).toContain('it resumes from here');
    expect(lost.err.replace(/\s+/g, ' ')).toContain('without a cache it begins from the start');
    expect(lost.err).not.toContain('resumes');
  });

  it.each([true, false])('and the same after Ctrl-C: with a cache %s', async (isCached) => {
    using folder = project();
    const wait = 'await new Promise((done) => setTimeout(done, 20));\n    const hard';
    writeFileSync(join(folder.path, 'env.mjs'), ENV.replace('const hard', wait));
    const io = captureIo({ cwd: folder.path, columns: 400 });
    const work = runCli(['eval', '--skill', 'SKILL.md', '--split', 'all', ...(isCached ? [] : ['--no-cache'])], io);
    while (io.listeners('SIGINT') === 0) await new Promise((done) => setTimeout(done, 1));
    io.emit('SIGINT');
    expect(await work).toBe(130);
    expect(io.err()).toContain(isCached ? 'Nothing is lost' : 'Nothing was kept (--no-cache)');
  });
});
