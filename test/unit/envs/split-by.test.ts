import { join } from 'node:path';
import { loadTasks, splitItems, type TaskOptions } from 'skillopt/envs';
import { describe, expect, it } from 'vitest';
import { loadEnv, loadProject } from '../../../src/project/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function load(rows: readonly object[] | string, options: TaskOptions = { splitBy: 'document' }) {
  const isCsv = typeof rows === 'string';
  const name = isCsv ? 'tasks.csv' : 'tasks.json';
  using folder = tempFolder({ [name]: isCsv ? rows : JSON.stringify(rows) });
  return await loadTasks(join(folder.path, name), options);
}
const groupsOf = async (...args: Parameters<typeof load>) => (await load(...args)).rows.map(({ group }) => group);

const asked = (no: number, more: object = {}) => ({
  id: `q${no}`,
  question: `Which ${no}?`,
  answer: `a${no}`,
  ...more,
});

describe('splitBy', () => {
  it('groups rows by a column that tasks have no use for', async () => {
    const { rows, columns } = await load('question,answer,document\nA?,a,d1\nB?,b, d1 \nC?,c,d2\nD?,d,\n');
    expect(rows.map(({ group }) => group)).toEqual([['in d1'], ['in d1'], ['in d2'], undefined]);
    expect(rows[0]!.value).not.toHaveProperty('document');
    expect(columns.unread).toEqual({});
  });

  it('reads lists, numbers and objects', async () => {
    const cells = [['d1', 'd2'], 7, '7', { page: 1 }, { page: 2 }, [], null, 'd2'];
    const rows = cells.map((document, no) => asked(no, { document }));
    expect(await groupsOf(rows)).toEqual([
      ...[
        ['in d1', 'in d2'],
        ['in 7'],
        ['in 7'],
        ['in {"page":1}'],
        ['in {"page":2}'],
        undefined,
        undefined,
        ['in d2'],
      ],
    ]);
  });

  it('may name a column that a task is read from', async () => {
    const rows = [asked(1, { topic: 'birds' }), asked(2, { topic: 'fish' })];
    expect(await groupsOf(rows, { splitBy: 'topic' })).toEqual([['in birds'], ['in fish']]);
  });

  it('keeps tasks of one document in one split, also by way of a task that is in two', async () => {
    const rows = Array.from({ length: 60 }, (_, no) => asked(no, { document: `d${no % 12}` }));
    const bridge = asked(60, { document: ['d0', 'd1'] });
    for (const seed of [1, 2, 3]) {
      const { rows: read } = await load([...rows, bridge]);
      const splits = splitItems(read, { seed });
      const of = (no: number) =>
        Object.entries(splits).find(([, items]) => items.some(({ id }) => id === `q${no}`))![0];
      for (let no = 0; no < 48; no++) expect(of(no + 12)).toBe(of(no));
      expect([of(0), of(1)]).toEqual([of(60), of(60)]);
      expect([splits.train.length, splits.val.length, splits.test.length].every((count) => count >= 10)).toBe(true);
    }
  });

  it('counts tasks, not documents, for the shares', async () => {
    const rows = Array.from({ length: 40 }, (_, no) => asked(no, { document: no < 20 ? 'large' : `d${no}` }));
    const { train, val, test } = splitItems((await load(rows)).rows, { ratio: '2:1:1', seed: 1 });
    expect([train.length, val.length, test.length]).toEqual([20, 10, 10]);
  });

  it('puts a task that two documents have into both groups', async () => {
    const row = { question: 'Same?', answer: 'yes' };
    const rows = [{ ...row, document: 'd1' }, { ...row, document: 'd2' }, asked(3, { document: 'd2' })];
    expect(await groupsOf(rows)).toEqual([['in d1', 'in d2'], ['in d2']]);
  });

  it('counts for nothing where rows name their splits, or without the key', async () => {
    const rows = [asked(1, { split: 'train', document: 'd' }), asked(2, { split: 'val', document: 'd' })];
    expect(await groupsOf(rows)).toEqual([undefined, undefined]);
    expect(await groupsOf(rows, { splitBy: 'nothing' })).toEqual([undefined, undefined]);
    expect(await groupsOf([asked(1, { document: 'd' })], {})).toEqual([undefined]);
  });

  it.each([
    [{ source: 'd1' }, 'splitBy: no row has "document"'],
    [{ document: ' ' }, 'splitBy: "document" is blank in all 2 rows'],
  ])('must name a column that says something: %j', async (more, message) => {
    const column = Object.keys(more)[0];
    const hint = `splitBy names a column of the task file. There is id, question, answer, ${column}.`;
    const problem = load([asked(1, more), asked(2, more)]);
    await expect(problem).rejects.toMatchObject({ code: 'TASKS_INVALID', message, hint });
  });
});

describe('a project with splitBy', () => {
  const open = async (flags: Readonly<Record<string, unknown>>) => {
    const rows = Array.from({ length: 30 }, (_, no) => asked(no, { document: `d${no % 5}` }));
    using folder = tempFolder({ 'tasks.json': JSON.stringify(rows), 'train/a.json': JSON.stringify(rows) });
    const all = { target: 'openai:none', splitBy: 'document', ...flags };
    return await loadEnv(await loadProject({ flags: all, cwd: folder.path }));
  };

  it('draws its documents, and not its tasks', async () => {
    const env = await open({ tasks: 'tasks.json' });
    const splits = await Promise.all(['train', 'val', 'test'].map((split) => env.getItems(split)));
    const documents = splits.map((items) => [...new Set(items.map(({ id }) => Number(id.slice(1)) % 5))]);
    expect(splits.map(({ length }) => length)).toEqual([12, 12, 6]);
    expect(documents.flat().toSorted()).toEqual([0, 1, 2, 3, 4]);
  });

  it.each([
    { env: 'qa', splitDir: '.' },
    { env: 'workspace', tasks: 'tasks.json' },
    { env: 'trigger', tasks: 'tasks.json' },
    { env: 'livemath', splitDir: '.' },
  ])('is refused where no rows are drawn: %j', async (flags) => {
    await expect(open(flags)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `command line: splitBy names a column of a task file, and env: ${flags.env} reads none here`,
    });
  });
});
