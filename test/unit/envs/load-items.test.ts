import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { loadItems, loadQaItems } from 'skillopt/envs';
import { describe, expect, test } from 'vitest';
import type { SkillError } from '../../../src/core/contracts/index.ts';

async function tempFolder() {
  const path = await mkdtemp(join(tmpdir(), 'skillopt-items-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

type Load = typeof loadItems | typeof loadQaItems;

/** What the loader makes of a file, with paths as seen from its folder. */
async function load(name: string, text: string, loader: Load = loadItems) {
  await using folder = await tempFolder();
  const path = join(folder.path, name);
  await writeFile(path, text);
  const rows = await loader(path).catch((error: SkillError) => {
    expect(error).toMatchObject({ code: 'TASKS_INVALID', hint: expect.any(String) });
    return Promise.reject(error.message.replaceAll(folder.path + sep, ''));
  });
  return rows.map((row) => ({ ...row, where: row.where.replace(folder.path + sep, '') }));
}

const problemOf = (name: string, text: string, loader: Load = loadItems): Promise<string> =>
  load(name, text, loader).then(
    () => 'nothing was thrown',
    (message: string) => message,
  );

const q1 = { id: 'q1', question: 'Capital of France?', answers: ['Paris'] };
const q2 = { id: 'q2', question: 'Largest ocean?', answers: ['Pacific Ocean', 'Pacific'] };

describe('a .jsonl file', () => {
  test('holds a task per line; empty lines are skipped and counted', async () => {
    const text = `\uFEFF${JSON.stringify(q1)}\r\n\r\n  \n${JSON.stringify(q2)}`;
    expect(await load('tasks.jsonl', text)).toEqual([
      { value: q1, where: 'tasks.jsonl:1' },
      { value: q2, where: 'tasks.jsonl:4' },
    ]);
  });

  test('keeps a line separator inside a text where it is', async () => {
    const [row] = await load('tasks.jsonl', '{"id": "a\u2028b"}\n');
    expect(row!.value).toEqual({ id: 'a\u2028b' });
  });

  test('with a line that is not JSON names the line', async () => {
    expect(await problemOf('tasks.jsonl', '{"id": 1}\n{"id": 2\n')).toMatch(
      /^tasks\.jsonl:2: expected one JSON object on the line: ./,
    );
  });
});

describe('a .json file', () => {
  test('is a list, and every task has its line', async () => {
    expect(
      await load('tasks.json', '\uFEFF[{"id": "a"},\n{"id": "b"}, {"id": "}],\\n\\"["},\n\n  7,\n\t[1, [2]]\n]'),
    ).toEqual([
      { value: { id: 'a' }, where: 'tasks.json:1' },
      { value: { id: 'b' }, where: 'tasks.json:2' },
      { value: { id: '}],\n"[' }, where: 'tasks.json:2' },
      { value: 7, where: 'tasks.json:4' },
      { value: [1, [2]], where: 'tasks.json:5' },
    ]);
  });

  test.each(['data', 'items'])('may keep its list under %j', async (key) => {
    const text = `{\n"about": {"${key}": [1,\n2]}, "more": [3,\n4],\n"${key}": [\n{"id": "a"},\n{"id": "b"}\n]}`;
    expect(await load('tasks.json', text)).toEqual([
      { value: { id: 'a' }, where: 'tasks.json:6' },
      { value: { id: 'b' }, where: 'tasks.json:7' },
    ]);
  });

  test('of a single task is that task, not its values', async () => {
    expect(await load('tasks.json', '{"id": 1, "question": "why?"}')).toEqual([
      { value: { id: 1, question: 'why?' }, where: 'tasks.json:1' },
    ]);
    expect(await load('tasks.yaml', '# one\nid: 1\n')).toEqual([{ value: { id: 1 }, where: 'tasks.yaml:2' }]);
  });

  test('that is JSONL by another name is read as such, and the other way round', async () => {
    expect(await load('tasks.json', '{"id": 1}\n{"id": 2}\n')).toEqual([
      { value: { id: 1 }, where: 'tasks.json:1' },
      { value: { id: 2 }, where: 'tasks.json:2' },
    ]);
    expect(await load('tasks.jsonl', '[{"id": 1},\n{"id": 2}]')).toEqual([
      { value: { id: 1 }, where: 'tasks.jsonl:1' },
      { value: { id: 2 }, where: 'tasks.jsonl:2' },
    ]);
    expect(await problemOf('tasks.json', '{"id": 1}\n{"id": 2\n')).toMatch(/^tasks\.json:2: expected JSON: ./);
  });

  test('may hold its tasks by name, in the order of the file; a task without an id goes by its name', async () => {
    const text = '{\n"b": {"id": "own", "data": [1]},\n"10": {"question": "x"}, "2":\n{"question": "y"}\n}';
    const rows = [
      { value: { id: 'own', data: [1] }, where: 'tasks.json:2' },
      { value: { id: '10', question: 'x' }, where: 'tasks.json:3' },
      { value: { id: '2', question: 'y' }, where: 'tasks.json:3' },
    ];
    expect(await load('tasks.json', text)).toEqual(rows);
    const yaml = 'b: { id: own, data: [1] }\n10: { question: x }\n2: { question: y }\n';
    expect((await load('tasks.yaml', yaml)).map(({ value, where }) => [value, where])).toEqual([
      [rows[0]!.value, 'tasks.yaml:1'],
      [rows[1]!.value, 'tasks.yaml:2'],
      [rows[2]!.value, 'tasks.yaml:3'],
    ]);
  });

  test.each([
    ['{"tasks": [], "data": 3}', 'an object with the keys "tasks", "data"'],
    ['"q1"', '"q1"'],
    ['null', 'null'],
  ])('of %s is not a list', async (text, came) => {
    expect(await problemOf('tasks.json', text)).toBe(
      `tasks.json: expected a list of tasks, or an object with a list under "data" or "items" or with tasks by name, got ${came}`,
    );
  });
});

describe('a .csv file', () => {
  test('has a header; a row that spans lines is named by its first', async () => {
    const text =
      '\uFEFFid, question,answers,context\r\n' +
      'q1,Capital of France?,Paris,"two\r\nlines"\r\n' +
      '\r\n  \r\n' +
      'q2,Largest ocean?,Pacific Ocean | Pacific,\r\n' +
      'q3,"Say ""a, b""","[""a, b"", ""a|b""]","\n\n"\r\n' +
      'q4,Last?,yes,';
    expect(await load('tasks.csv', text)).toEqual([
      { value: { ...q1, context: 'two\nlines' }, where: 'tasks.csv:2' },
      { value: { ...q2, context: '' }, where: 'tasks.csv:6' },
      { value: { id: 'q3', question: 'Say "a, b"', answers: ['a, b', 'a|b'], context: '\n\n' }, where: 'tasks.csv:7' },
      { value: { id: 'q4', question: 'Last?', answers: ['yes'], context: '' }, where: 'tasks.csv:10' },
    ]);
  });

  test('without a column of answers is just cells', async () => {
    const rows = await load('tasks.CSV', 'id,answer\nq1,a|b\n');
    expect(rows).toEqual([{ value: { id: 'q1', answer: 'a|b' }, where: 'tasks.CSV:2' }]);
  });

  test('with a row of another length names the row', async () => {
    expect(await problemOf('tasks.csv', 'id,question\n1,"a\nb"\n2,"c\nd",e\n')).toMatchInlineSnapshot(
      `"tasks.csv:4: expected CSV: Invalid Record Length: columns length is 2, got 3"`,
    );
  });

  test('with a stray quote names its line', async () => {
    expect(await problemOf('tasks.csv', 'id,question\n1,a\n2,b"c\n')).toMatchInlineSnapshot(
      `"tasks.csv:3: expected CSV: Invalid Opening Quote: a quote is found on field "question", value is "b""`,
    );
  });

  test('with a quote left open names the first row that can be meant, not the end of the file', async () => {
    expect(await problemOf('tasks.csv', 'id,question\n1,a\n2,"b\n3,c\n4,d\n')).toMatchInlineSnapshot(
      `"tasks.csv:3: a quote that opens here or later is never closed"`,
    );
  });
});

describe('a .yaml file', () => {
  test.each(['tasks.yaml', 'tasks.yml'])('(%s) is a list, and every task has its line', async (name) => {
    const text = [
      '\uFEFF# the tasks',
      '- id: q1',
      '  question: Capital of France?',
      '  answers: &paris [Paris]',
      '',
      '- { id: 2, question: Again?, answers: *paris }',
      '-',
      '  id: q3',
    ];
    expect(await load(name, text.join('\r\n'))).toEqual([
      { value: q1, where: `${name}:2` },
      { value: { id: 2, question: 'Again?', answers: ['Paris'] }, where: `${name}:6` },
      { value: { id: 'q3' }, where: `${name}:8` },
    ]);
  });

  test('may keep its list under "items"', async () => {
    expect(await load('tasks.yaml', 'about: [1, 2]\nitems:\n- id: a\n')).toEqual([
      { value: { id: 'a' }, where: 'tasks.yaml:3' },
    ]);
  });

  test('with a mistake names its line', async () => {
    expect(await problemOf('tasks.yaml', '- id: a\n- id: b: c\n')).toMatchInlineSnapshot(
      `"tasks.yaml:2: expected YAML: Nested mappings are not allowed in compact mappings"`,
    );
    expect(await problemOf('tasks.yaml', '- id: a\n- *b\n')).toMatchInlineSnapshot(
      `"tasks.yaml:2: expected YAML: Unresolved alias (the anchor must be set before the alias): b"`,
    );
  });

  test('that would grow without end is refused', async () => {
    const ten = (name: string) => `[${Array(10).fill(`*${name}`).join(', ')}]`;
    const text = ['- a: &a [1]', `  b: &b ${ten('a')}`, `  c: &c ${ten('b')}`, `  d: ${ten('c')}`].join('\n');
    expect(await problemOf('tasks.yaml', text)).toMatch(/^tasks\.yaml:1: .*alias/);
  });

  test('that is not a list says so', async () => {
    expect(await problemOf('tasks.yaml', 'question: why?\n')).toMatchInlineSnapshot(
      `"tasks.yaml: expected a list of tasks, or an object with a list under "data" or "items" or with tasks by name, got an object with the keys "question""`,
    );
  });
});

describe('a file that holds no task', () => {
  test.each([
    ['tasks.jsonl', ''],
    ['tasks.jsonl', '\n \n'],
    ['tasks.json', ''],
    ['tasks.json', '[]'],
    ['tasks.json', '{"items": []}'],
    ['tasks.csv', ''],
    ['tasks.csv', 'id,question,answers\n'],
    ['tasks.yaml', '# soon\n'],
    ['tasks.yaml', '\uFEFF'],
  ])('is an error: %s with %j', async (name, text) => {
    expect(await problemOf(name, text)).toBe(`${name} holds no tasks`);
  });
});

describe('a file that cannot be read', () => {
  test('because it does not exist is one clear error', async () => {
    await expect(loadItems('no-such-folder/tasks.jsonl')).rejects.toMatchObject({
      code: 'TASKS_INVALID',
      message: 'no-such-folder/tasks.jsonl does not exist',
      hint: 'Check the path of the task file.',
    });
  });

  test('because it is a folder says so', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'tasks.json');
    await mkdir(path);
    await expect(loadItems(path)).rejects.toThrow(`${path} cannot be read: EISDIR`);
  });

  test('because of its name says which names can', async () => {
    expect(await problemOf('tasks.txt', 'q1')).toMatchInlineSnapshot(
      `"tasks.txt: expected a file ending in .jsonl, .ndjson, .json, .csv, .tsv, .yaml, .yml, .parquet, got ".txt""`,
    );
    expect(await problemOf('tasks', 'q1')).toMatchInlineSnapshot(
      `"tasks: expected a file ending in .jsonl, .ndjson, .json, .csv, .tsv, .yaml, .yml, .parquet, got """`,
    );
  });
});

describe('loadQaItems', () => {
  test('checks every row and lifts its split out of the task', async () => {
    const rows = [
      { ...q1, split: 'train', note: 'dropped' },
      { id: 2, question: 'Two?', answer: 'yes', task_type: 'yes/no', context: null, split: '' },
    ];
    expect(await load('tasks.jsonl', rows.map((row) => JSON.stringify(row)).join('\n'), loadQaItems)).toEqual([
      { value: q1, where: 'tasks.jsonl:1', split: 'train' },
      { value: { id: '2', question: 'Two?', answers: ['yes'], taskType: 'yes/no' }, where: 'tasks.jsonl:2' },
    ]);
  });

  test('takes one answer without a list', async () => {
    const rows = await load('tasks.jsonl', JSON.stringify({ ...q1, answers: 'Paris' }), loadQaItems);
    expect(rows).toEqual([{ value: q1, where: 'tasks.jsonl:1' }]);
  });

  test.each([
    [{ ...q1, answers: '["Paris"' }, '"answers" must be a non-empty list, got "[\\"Paris\\""'],
    [{ ...q1, answers: '' }, '"answers" must be a non-empty list, got ""'],
    [{ ...q1, answers: [] }, '"answers" must be a non-empty list, got []'],
    [{ ...q1, answers: undefined }, '"answers" must be a non-empty list, got nothing'],
    [{ ...q1, answers: ['Paris', ' '] }, '"answers.1" must be non-empty text, got " "'],
    [{ ...q1, answers: [true] }, '"answers.0" must be non-empty text, got true'],
    [{ ...q1, answers: undefined, answer: { a: 1 } }, '"answer" must be a non-empty list, got {"a":1}'],
    [{ ...q1, id: true }, '"id" must be non-empty text or a number, got true'],
    [{ ...q1, question: '\n' }, '"question" must be non-empty text, got "\\n"'],
    [{ ...q1, context: ['a'] }, '"context" must be text, got ["a"]'],
    [{ ...q1, task_type: 3 }, '"task_type" must be text, got 3'],
    [{ ...q1, taskType: { a: 'x'.repeat(80) } }, `"taskType" must be text, got {"a":"${'x'.repeat(54)}…`],
    ['q1', 'a task must be an object, got "q1"'],
    [null, 'a task must be an object, got null'],
    [[q1.id], 'a task must be an object, got ["q1"]'],
  ])('names the bad row %#', async (row, problem) => {
    const text = `${JSON.stringify(q2)}\n\n${JSON.stringify(row)}\n`;
    expect(await problemOf('tasks.jsonl', text, loadQaItems)).toBe(`tasks.jsonl:3: ${problem}`);
  });

  test('names bad rows of every format by their lines', async () => {
    expect(await problemOf('tasks.json', '[\n{"id": 1, "question": "q"}]', loadQaItems)).toMatchInlineSnapshot(
      `"tasks.json:2: "answers" must be a non-empty list, got nothing"`,
    );
    expect(
      await problemOf('tasks.csv', 'id,question,answers\n1,"q\nr",a\n2,q,\n3,q,[a\n', loadQaItems),
    ).toMatchInlineSnapshot(`
      "tasks.csv:4: "answers" must be a non-empty list, got ""
      tasks.csv:5: "answers" must be a non-empty list, got "[a""
    `);
    expect(
      await problemOf('tasks.yaml', '- id: 1\n  question: q\n  answers: [a]\n- id: 2\n', loadQaItems),
    ).toMatchInlineSnapshot(`"tasks.yaml:4: "question" must be non-empty text, got nothing"`);
  });

  test('shows the first five problems and counts the others', async () => {
    const rows = Array.from({ length: 7 }, (_, index) => ({ ...q1, id: `q${index}`, answers: { index } }));
    const text = rows.map((row) => JSON.stringify(row)).join('\n');
    expect(await problemOf('tasks.jsonl', text, loadQaItems)).toMatchInlineSnapshot(`
      "tasks.jsonl:1: "answers" must be a non-empty list, got {"index":0}
      tasks.jsonl:2: "answers" must be a non-empty list, got {"index":1}
      tasks.jsonl:3: "answers" must be a non-empty list, got {"index":2}
      tasks.jsonl:4: "answers" must be a non-empty list, got {"index":3}
      tasks.jsonl:5: "answers" must be a non-empty list, got {"index":4}
      … and 2 more"
    `);
  });

  test('says once what is wrong with many rows', async () => {
    const rows = Array.from({ length: 7 }, (_, index) => ({ ...q1, id: `q${index}`, answers: [] }));
    const text = rows.map((row) => JSON.stringify(row)).join('\n');
    expect(await problemOf('tasks.jsonl', text, loadQaItems)).toBe(
      'tasks.jsonl:1: "answers" must be a non-empty list, got [] (and in 6 more rows)',
    );
  });
});
