import { expect, it } from 'vitest';
import { worldFolder } from './world-folder.ts';

const lines = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join('\n');
const project = (env: string, tasks = 'tasks.jsonl') => ({
  'skillopt.config.yaml': `env: ${env}\ntasks: ${tasks}\nskill: house-style\ntarget: { agent: claude }\noptimizer: simulated\n`,
});
const work = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    id: `t${at}`,
    prompt: `Count the teapots of shop ${at}.`,
    files: { 'stock.txt': `${at}\n` },
    setup: 'ls',
    verify: 'test -f teapots.txt',
    limits: { maxTurns: 5 },
  }));

it('checks work for agents as env: workspace reads it', async () => {
  using folder = worldFolder({ ...project('workspace'), 'tasks.jsonl': lines(work(60)) });
  const { code, out } = await folder.cli('tasks', 'check');
  expect([code, out]).toEqual([0, '60 tasks in tasks.jsonl: nothing is wrong with them\n']);
});

it('takes the same prompt with other files for another task, and with another verifier for a contradiction', async () => {
  const [one] = work(1);
  const same = [
    { ...one, id: 'a1', prompt: 'Mend it.', files: { 'a.txt': 'one' } },
    { ...one, id: 'a2', prompt: 'Mend it.', files: { 'a.txt': 'two' } },
    { ...one, id: 'a3', prompt: 'Mend it.', files: { 'a.txt': 'two' }, verify: 'false' },
  ];
  using folder = worldFolder({ ...project('workspace'), 'tasks.jsonl': lines([...work(60), ...same]) });
  const { findings } = (await folder.cli('tasks', 'check', '--json')).json();
  expect(findings).toMatchObject([{ code: 'contradictory', tasks: ['a2', 'a3'] }]);
});

it('says of rows what training says of them', async () => {
  using folder = worldFolder({ ...project('workspace'), 'tasks.jsonl': lines([{ id: 'a', prompt: 'Do it.' }]) });
  const checked = await folder.cli('tasks', 'check');
  const estimated = await folder.cli('estimate');
  expect([checked.code, checked.err]).toEqual([2, expect.stringContaining('must have verify, assertions or a rubric')]);
  expect(checked.err).toBe(estimated.err);
  folder.write('tasks.jsonl', lines([{ ...work(1)[0], from: 'nowhere' }]));
  expect((await folder.cli('tasks', 'check')).err).toContain('a task names the folder nowhere, and ');
});

it('checks a folder of tasks, and tells drafts for nobody', async () => {
  const folders = Object.fromEntries(
    Array.from({ length: 6 }, (_, at) => [`work/w${at}/task.yaml`, `prompt: Sweep floor ${at}.\nverify: 'true'\n`]),
  );
  using folder = worldFolder({ ...project('workspace', 'work'), ...folders });
  const { code, out } = await folder.cli('tasks', 'check');
  expect([code, out]).toEqual([1, expect.stringContaining('too-few  6 tasks: ')]);
  expect(out).toContain('6 tasks in work: training on them makes no sense yet');
  expect(out).not.toContain('draft');
  const fixed = await folder.cli('tasks', 'check', '--fix', '--out', 'clean.jsonl');
  expect([fixed.code, fixed.err]).toEqual([2, expect.stringContaining('these tasks are folders')]);
  folder.write('work/w3/task.yaml', 'prompt: Sweep.\n');
  expect((await folder.cli('tasks', 'check')).err).toMatch(/work\/w3\/task\.yaml: a task must have verify/);
  const missing = await folder.cli('tasks', 'check', 'elsewhere');
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('elsewhere does not exist')]);
});

it('checks labelled queries as env: trigger reads them, and says which are not measured with', async () => {
  const queries = Array.from({ length: 60 }, (_, at) => ({ query: `Is bill ${at} paid?`, should_trigger: at < 20 }));
  using folder = worldFolder({ ...project('trigger'), 'tasks.jsonl': lines(queries) });
  const { findings } = (await folder.cli('tasks', 'check', '--json')).json();
  const left = findings.find(({ code }: { code: string }) => code === 'left-out');
  expect(left.tasks[0]).toContain('as many are measured that should load the skill as that should not');
  expect(left.tasks).toHaveLength(12);
  folder.write('tasks.jsonl', lines([{ query: 'Hello?', should_trigger: 'maybe' }]));
  const { err } = await folder.cli('tasks', 'check');
  expect(err).toContain('"shouldTrigger" must be true or false');
});
