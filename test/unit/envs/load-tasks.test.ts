import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { loadTasks, type TaskOptions } from 'skillopt/envs';
import { describe, expect, test } from 'vitest';
import { Scoring } from '../../../src/core/judge/index.ts';

async function load(name: string, text: string, options: TaskOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'skillopt-tasks-'));
  try {
    await writeFile(join(folder, name), text);
    const loaded = await loadTasks(join(folder, name), options);
    return JSON.parse(
      JSON.stringify(loaded).replaceAll(JSON.stringify(folder + sep).slice(1, -1), ''),
    ) as typeof loaded;
  } catch (error) {
    const { message, hint } = error as { message: string; hint?: string };
    throw new Error(`${message.replaceAll(folder + sep, '')}\n→ ${hint}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const itemsOf = async (...args: Parameters<typeof load>) => (await load(...args)).rows.map(({ value }) => value);
const lines = (...rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).join('\n');

describe('a task without an id', () => {
  test('gets one from its content, whatever the format, the order and the names of its columns', async () => {
    const paris = {
      id: expect.stringMatching(/^capital-of-france-[0-9a-f]{8}$/),
      question: 'Capital of France?',
      answers: ['Paris'],
    };
    const [csv] = await itemsOf('a.csv', 'question,answer\nCapital of France?,Paris\n');
    expect(csv).toEqual(paris);
    expect(await readFile('docs/tasks.md', 'utf8'), 'the page shows such an id').toContain(`\`${csv!.id}\``);
    expect(await itemsOf('a.tsv', 'Expected Output\tPrompt\nParis\tCapital of France?\n')).toEqual([csv]);
    expect(await itemsOf('a.jsonl', lines({ answers: 'Paris', input: 'Capital of France?' }))).toEqual([csv]);
    expect(await itemsOf('a.ndjson', lines({ answers: ['Paris'], query: 'Capital of France?', x: 1 }))).toEqual([csv]);
    expect(await itemsOf('a.yaml', '- question: Capital of France?\n  expected: Paris\n')).toEqual([csv]);
    expect(await itemsOf('a.csv', 'question;answer\nCapital of France?;Paris\n')).toEqual([csv]);
  });

  test('keeps it when its kind, its split or the way of scoring changes', async () => {
    const [plain] = await itemsOf('a.jsonl', lines({ question: 'q', answer: 'a' }));
    const [other] = await itemsOf('a.jsonl', lines({ question: 'q', answer: 'a', category: 'c', split: 'val' }), {
      scoring: { kind: 'contains' },
    });
    expect(other).toEqual({ ...plain, taskType: 'c', judge: expect.objectContaining({ kind: 'contains' }) });
  });

  test('that stands there twice is one task, and that is said', async () => {
    const { rows, leftOut } = await load('a.csv', 'question,answer\nq,a\nr,b\nq,a\n');
    expect(rows.map(({ where }) => where)).toEqual(['a.csv:2', 'a.csv:3']);
    expect(leftOut).toEqual([{ where: 'a.csv:4', what: 'a task', why: 'the same as a.csv:2' }]);
  });

  test('beside tasks with ids leaves those as they are', async () => {
    const rows = await itemsOf('a.jsonl', lines({ id: 7, question: 'q', answer: 'a' }, { question: 'q', answer: 'a' }));
    expect(rows.map(({ id }) => id)).toEqual(['7', expect.stringMatching(/^q-/)]);
  });
});

describe('names of columns', () => {
  test('that are ours win over others, and blank ones lose', async () => {
    const row = { id: 1, question: 'ours', prompt: 'theirs', answers: null, answer: '', expected: 'a', output: 'b' };
    expect(await itemsOf('a.jsonl', lines(row))).toEqual([{ id: '1', question: 'ours', answers: ['a'] }]);
  });

  test('are taken without regard to case, spaces and strokes', async () => {
    const text = 'ID,Question,Expected-Output,Task Type\n1,q,a,t\n';
    expect(await itemsOf('a.csv', text)).toEqual([{ id: '1', question: 'q', answers: ['a'], taskType: 't' }]);
  });

  test('of another kind of value are passed over: a type that is a number, a prompt that is a chat', async () => {
    const row = { id: 1, prompt: [{ role: 'user' }], input: 'q', output: 4, type: 3 };
    expect(await itemsOf('a.jsonl', lines(row))).toEqual([{ id: '1', question: 'q', answers: ['4'] }]);
  });

  test('of an instruction with an input make a question with a context', async () => {
    const row = { id: 1, instruction: 'Translate.', input: 'Hallo', output: '[Hello]' };
    const item = { id: '1', question: 'Translate.', answers: ['[Hello]'], context: 'Hallo' };
    expect(await itemsOf('a.jsonl', lines(row))).toEqual([item]);
  });

  test('that nobody can guess are said in the project', async () => {
    const text = 'Frage,Antwort,output\nq,a,b\n';
    const columns = { question: 'Frage', answers: 'Antwort' };
    expect(await itemsOf('a.csv', text, { columns })).toMatchObject([{ question: 'q', answers: ['a'] }]);
    await expect(load('a.csv', text)).rejects.toThrow(
      /^a\.csv:2: "question" must be non-empty text, got nothing\n.*columns: \{ question: NAME/,
    );
    await expect(load('a.csv', text, { columns: { question: 'frage' } })).rejects.toThrow(
      'columns.question: no row has "frage"\n→ There is Frage, Antwort, output.',
    );
  });

  test('stand in messages as the file has them', async () => {
    await expect(load('a.csv', 'prompt,expected\nq,\n')).rejects.toThrow(
      'a.csv:2: "expected" must be a non-empty list, got ""',
    );
    await expect(load('a.tsv', 'prompt\texpected\nq\n')).rejects.toThrow(
      'a.tsv:2: expected TSV: Invalid Record Length',
    );
  });
});

describe('scoring for all tasks', () => {
  const scoring = (value: unknown) => Scoring.parse(value);

  test('fills a judge from the answers, and leaves a judge of a task alone', async () => {
    const own = { kind: 'exact', reference: 'x' };
    const rows = [
      { question: 'q', answers: ['a', 'b'] },
      { question: 'r', judge: own },
    ];
    const judges = async (value: unknown, first: object = rows[0]!) =>
      (await itemsOf('a.jsonl', lines(first, rows[1]), { scoring: scoring(value) })).map(({ judge }) => judge);
    const contains = { kind: 'contains', reference: ['a', 'b'], all: false, ignoreCase: true };
    expect(await judges('contains')).toEqual([contains, own]);
    expect(await judges({ kind: 'contains', all: true })).toEqual([{ ...contains, all: true }, own]);
    expect(await judges('exact')).toEqual([{ kind: 'exact', reference: ['a', 'b'] }, own]);
    expect(await judges('regex')).toEqual([{ kind: 'regex', pattern: ['a', 'b'] }, own]);
    expect(await judges({ kind: 'number', tolerance: 0.5 }, { question: 'q', answer: '$1,250' })).toEqual([
      { kind: 'number', reference: [1250], tolerance: 0.5, relativeTolerance: 0, which: 'last' },
      own,
    ]);
    expect(await judges({ kind: 'rubric', rubric: 'Is kind.' }, { question: 'q' })).toEqual([
      { kind: 'rubric', rubric: 'Is kind.' },
      own,
    ]);
  });

  test('names the row whose answers do not fit it', async () => {
    const text = 'question,answer\nq,12\nr,a dozen\n';
    await expect(load('a.csv', text, { scoring: scoring('number') })).rejects.toThrow(
      'a.csv:3: scoring by number needs one number as answer, got "a dozen"',
    );
    await expect(load('a.csv', 'question,answer\nq,(\n', { scoring: scoring('regex') })).rejects.toThrow(
      /a\.csv:2: "judge\.pattern.*cannot be used/,
    );
    await expect(load('a.csv', 'question,answer\nq,\n', { scoring: scoring('contains') })).rejects.toThrow(
      'a.csv:2: "answer" must be a non-empty list, got ""',
    );
  });

  test.each([
    ['contain', 'there is no kind "contain" — did you mean contains?'],
    [{ kind: 'contains', reference: 'x' }, 'expected no reference: each task has it in its answers'],
    [{ kind: 'number', tolerence: 1 }, 'Unrecognized key: "tolerence"'],
    [{ kind: 'rubric' }, 'must have a rubric'],
    [{ kind: 'json-schema', schema: { type: 'string', pattern: '(a+)+' } }, '"pattern" is not supported'],
    [7, 'expected exact, contains'],
  ])('says what is wrong with %j', (value, problem) => {
    expect(
      Scoring.safeParse(value)
        .error?.issues.map(({ message }) => message)
        .join('\n'),
    ).toContain(problem);
  });
});

test.each([
  ['frage,antwort text\nWie viel?,3\n', 'The columns are "frage", "antwort text".'],
  ['question,solution\nHow many?,3\n', 'The columns are "question", "solution".'],
])('a column that is missing is named beside those that are there: %j', async (text, words) => {
  await expect(load('tasks.csv', text)).rejects.toThrow(words);
});
