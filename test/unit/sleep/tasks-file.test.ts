import { chmod, lstat, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scripted } from '../../../src/models/index.ts';
import { readTasksFile, requireReviewed, writeTasksFile } from '../../../src/sleep/index.ts';
import type { ValidateChecks } from '../../../src/sleep/mine/model-miner.ts';
import { parseTasksFile } from '../../../src/sleep/tasks-file.ts';
import { sleepTask } from '../../support/sleep/sleep-tasks.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const row = (id: string, fields: object = {}) => ({ id, project: '/p', intent: `${id}a ${id}b ${id}c`, ...fields });
const parse = (value: unknown, options = {}) => parseTasksFile(JSON.stringify(value), 'tasks.json', options);
const splitsOf = (value: unknown, options = {}) => parse(value, options).file.tasks.map(({ split }) => split);

describe('a tasks file', () => {
  it('is an object with a header, or a list of tasks', () => {
    const header = { format: 'skillopt_sleep.tasks.v1', project: '/p', transcript_source: 'codex', n_sessions: 3 };
    const { file, warnings } = parse({ ...header, target_skill_path: 's.md', reviewed: true, tasks: [row('t1')] });
    expect(file).toMatchObject({ project: '/p', transcriptSource: 'codex', nSessions: 3, targetSkillPath: 's.md' });
    expect(file.reviewed).toBe(true);
    expect(warnings).toEqual([]);
    expect(parse([row('t1')]).file).toMatchObject({ reviewed: false, nSessions: 0, tasks: [{ id: 't1' }] });
  });

  it.each([undefined, false, 'true', 1, {}])('counts as not reviewed when it says %j', (reviewed) => {
    expect(parse({ reviewed, tasks: [row('t1')] }).file.reviewed).toBe(false);
  });

  it('says that a quoted true is none', () => {
    expect(parse({ reviewed: 'true', tasks: [row('t1')] }).warnings.join()).toMatch(
      /reviewed: only true, without quotes/,
    );
  });

  it('understands older names of splits and keeps what a person decided', () => {
    expect(splitsOf([row('t1', { split: 'replay' }), row('t2', { split: 'holdout' }), row('t3')])).toEqual([
      'train',
      'val',
      'train',
    ]);
  });

  it('gets splits when nothing is held out, by the fractions that hold everywhere', () => {
    const rows = ['t0', 't1', 't2', 't3'].map((id) => row(id));
    expect(splitsOf(rows)).toEqual(['val', 'train', 'train', 'val']);
    expect(splitsOf(rows, { holdoutFraction: 0.36 })).toEqual(['val', 'train', 'val', 'val']);
    expect(splitsOf(rows, { holdoutFraction: 0.36, valFraction: 0.1 })).toEqual(['val', 'train', 'train', 'train']);
    expect(splitsOf(rows, { testFraction: 0.1 })).toEqual(['train', 'test', 'test', 'val']); // one is moved to learn from
    expect(splitsOf([row('t0')])).toEqual(['train']);
  });

  it('fact 45, differs: a split that nobody knows is an error, and does not stand on both sides', () => {
    expect(() => parse([row('t1', { split: 'weird' })])).toThrow(/split/);
  });

  it('keeps the keys of a judge as they are', () => {
    const judge = { checks: [{ op: 'contains', arg: { Some_Key: 1 } }], Own_key: 2 };
    expect(parse([row('t1', { reference_kind: 'rule', judge })]).file.tasks[0]!.judge).toEqual(judge);
  });

  it('names task, field, what was expected and what came', () => {
    const bad = [row('t1'), row('t2', { reference_kind: 'guess', source_sessions: 's' }), { id: 't3', intent: 5 }];
    expect(() => parse(bad)).toThrow(
      [
        'tasks.json: tasks[1].reference_kind: expected one of exact, rubric, rule, command, none, got "guess"',
        'tasks.json: tasks[1].source_sessions: expected a list, got "s"',
        'tasks.json: tasks[2].project: expected text, got nothing',
        'tasks.json: tasks[2].intent: expected text, got 5',
      ].join('\n'),
    );
    expect(() => parse([row('t1'), row('t1')])).toThrow(
      'tasks[1].id: expected one of its own, got "t1" as in tasks[0]',
    );
    expect(() => parse({ n_sessions: 'x', tasks: [row('t1')] })).toThrow('n_sessions: expected a number, got "x"');
    expect(() => parse({ format: 'other.v2', tasks: [row('t1')] })).toThrow('skillopt_sleep.tasks.v1');
    expect(() => parse({ items: [] })).toThrow('tasks: expected a list, got nothing');
    expect(() => parse('text')).toThrow('tasks: expected a list');
    expect(() => parse(null)).toThrow('tasks: expected a list');
    expect(() => parse([])).toThrow('expected 1 to 10000 tasks, got 0');
    expect(() => parseTasksFile('{', 'tasks.json')).toThrow('tasks.json: expected JSON');
    expect(() => parseTasksFile(`${'['.repeat(200)}${']'.repeat(200)}`, 'tasks.json')).toThrow('levels deep');
  });

  it('has its rules validated: errors end the reading, warnings come once', () => {
    const validateChecks: ValidateChecks = (judge) => {
      const said = JSON.stringify(judge);
      return {
        errors: said.includes('bad') ? ['op: unknown "bad"'] : [],
        warnings: said.includes('odd') ? ['odd'] : [],
      };
    };
    const rule = (op: string) => row(`t-${op}`, { reference_kind: 'rule', judge: { checks: [{ op }] } });
    expect(() => parse([rule('fine'), rule('bad')], { validateChecks })).toThrow(
      'tasks.json: tasks[1].judge: op: unknown "bad"',
    );
    expect(parse([rule('odd'), row('t2')], { validateChecks }).warnings).toEqual(['tasks[0].judge: odd']);
  });

  it('warns of what makes a measurement worthless', () => {
    const intent = 'rename all exports of the billing module';
    const rows = [
      row('t1', { intent, split: 'train' }),
      row('t2', { intent: `${intent}!`, split: 'val' }),
      row('t3', { origin: 'dream', split: 'test' }),
      row('t4', { reference_kind: 'exact', split: 'val' }),
    ];
    const { file, warnings } = parse(rows);
    expect(file.tasks[2]!.split).toBe('train');
    expect(warnings.map((line) => line.split(':')[0])).toEqual([
      'tasks[3].reference',
      'tasks[2].split',
      'tasks[1].split',
    ]);
  });

  it('19: says nothing about which sessions were read', () => {
    const { file, ...rest } = parse({ n_sessions: 7, tasks: [row('t1')] });
    expect(Object.keys(rest)).toEqual(['warnings']);
    expect(Object.keys(file).filter((key) => /cursor|harvest|since/i.test(key))).toEqual([]);
  });
});

describe('a tasks file on disk', () => {
  const content = { project: '/p', transcriptSource: 'auto', nSessions: 2, targetSkillPath: '' };

  it('is written for a person to review, and read back', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'tasks.json');
    const judge = { checks: [{ op: 'contains', arg: 'x' }], Own_key: 1 };
    const tasks = [sleepTask('t1', { judge, referenceKind: 'rule', split: 'val' }), sleepTask('t2')];
    await writeTasksFile(path, { ...content, tasks });
    const text = await readFile(path, 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      format: 'skillopt_sleep.tasks.v1',
      reviewed: false,
      transcript_source: 'auto',
    });
    expect(text).toMatch(/^\{\n {2}"format": .*\n {2}"how_to_review": "Read every task/);
    expect(text).toContain('"reference_kind": "rule"');
    expect((await readTasksFile(path)).file).toEqual({ ...content, reviewed: false, tasks });
  });

  it.skipIf(process.platform === 'win32')('is private, also where a public file or a link stood', async () => {
    await using folder = await tempFolder();
    const [path, link, draft] = ['tasks.json', 'link.json', 'tasks.json.tmp'].map((name) => join(folder.path, name));
    await writeFile(path!, 'old');
    await chmod(path!, 0o644);
    await writeFile(draft!, 'of somebody else');
    await symlink(path!, link!);
    await writeTasksFile(path!, { ...content, tasks: [sleepTask('t1')] });
    await writeTasksFile(link!, { ...content, tasks: [sleepTask('t2')] });
    expect((await lstat(path!)).mode & 0o777).toBe(0o600);
    expect((await lstat(link!)).isSymbolicLink()).toBe(false);
    expect(await readFile(path!, 'utf8')).toContain('"t1"');
    expect((await readdir(folder.path)).sort()).toEqual(['link.json', 'tasks.json', 'tasks.json.tmp']);
    expect(await readFile(draft!, 'utf8')).toBe('of somebody else');
  });

  it('escapes what would hide or move a cursor', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'tasks.json');
    await writeTasksFile(path, { ...content, tasks: [sleepTask('t1', { intent: 'say \u202Ehello\u001b[2J' })] });
    const text = await readFile(path, 'utf8');
    expect(['\u202E', '\u001b'].filter((hidden) => text.includes(hidden))).toEqual([]);
    expect((await readTasksFile(path)).file.tasks[0]!.intent).toBe('say \u202Ehello\u001b[2J');
  });

  it('that is missing, too large, a folder or no UTF-8 is an error with a hint', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'tasks.json');
    const fails = (where: string) => readTasksFile(where).then(String, (error) => `${error.code} ${error.message}`);
    expect(await fails(path)).toMatch(/^TASKS_INVALID .*cannot be read: no such file|ENOENT/);
    expect(await fails(folder.path)).toMatch(/^TASKS_INVALID .*(expected a file|EISDIR)/);
    await writeFile(path, Buffer.from([0x22, 0xff, 0x22]));
    expect(await fails(path)).toMatch(/expected UTF-8/);
    await truncate(path, 33 * 1024 * 1024);
    expect(await fails(path)).toMatch(/at most 32 MB, got 33 MB/);
    await expect(writeTasksFile(join(path, 'x.json'), { ...content, tasks: [] })).rejects.toThrow(/cannot be written/);
  });
});

describe('review', () => {
  const real = (id: string) => ({ id });
  const fake = scripted('fake', () => '');

  it.each(['target', 'optimizer', 'judge'])('27: a real model as %s needs reviewed tasks', (role) => {
    const roles = { target: fake, optimizer: fake, judge: fake, [role]: real('openai:gpt-5') };
    expect(() => requireReviewed({ reviewed: false }, roles)).toThrow(`${role} openai:gpt-5`);
    expect(() => requireReviewed({ reviewed: true }, roles)).not.toThrow();
  });

  it('27: scripted models need none', () => {
    expect(() =>
      requireReviewed({ reviewed: false }, { target: fake, optimizer: fake, judge: undefined }),
    ).not.toThrow();
  });
});
