import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { loadTasks } from 'skillopt/envs';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { isFilled } from '../../../src/imports/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

type Task = { readonly question: string; readonly answer: string; readonly context: string; readonly topic: string };
type Column = readonly [name: string, field: keyof Task];

/** What every format can hold: text that neither begins nor ends with a space, in one kind of line breaks. */
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom('a, b', 'say "x"', 'one\ntwo', '[1, 2]', '7', 'true', '1e3', '~', '# x', 'a;b', 'x\ty'),
  )
  .map((value) => value.replace(/\r\n?/g, '\n').replaceAll('\0', '').trim().replaceAll('\uFEFF', ''))
  .filter(isFilled);
const task: fc.Arbitrary<Task> = fc.record({
  question: text,
  answer: text,
  context: fc.oneof(fc.constant(''), text),
  topic: fc.oneof(fc.constant(''), text),
});

const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
const table = (tasks: readonly Task[], columns: readonly Column[], separator: string) =>
  [columns.map(([name]) => quote(name)), ...tasks.map((row) => columns.map(([, field]) => quote(row[field])))]
    .map((cells) => cells.join(separator))
    .join('\n');
const named = (row: Task, columns: readonly Column[]) =>
  Object.fromEntries(columns.map(([name, field]) => [name, row[field]]));

const WRITERS: Readonly<Record<string, (tasks: readonly Task[], columns: readonly Column[]) => string | Uint8Array>> = {
  '.csv': (tasks, columns) => table(tasks, columns, ','),
  '.tsv': (tasks, columns) => table(tasks, columns, '\t'),
  '.jsonl': (tasks, columns) => tasks.map((row) => JSON.stringify(named(row, columns))).join('\n'),
  '.json': (tasks, columns) => JSON.stringify(tasks.map((row) => named(row, columns))),
  '.yaml': (tasks, columns) => stringify(tasks.map((row) => named(row, columns))),
  '.parquet': (tasks, columns) => {
    const columnData = columns.map(([name, field]) => ({
      name,
      data: tasks.map((row) => row[field]),
      type: 'STRING' as const,
    }));
    return new Uint8Array(parquetWriteBuffer({ columnData }));
  },
};

const names = {
  question: fc.constantFrom('question', 'Prompt', 'input', 'QUERY'),
  answer: fc.constantFrom('answer', 'expected', 'Expected Output', 'reference'),
  context: fc.constant('context'),
  topic: fc.constantFrom('topic', 'task_type', 'Category'),
};
const columns = fc
  .record(names)
  .map((chosen) => Object.entries(chosen).map(([field, name]) => [name, field] as Column))
  .chain((list) => fc.shuffledSubarray(list, { minLength: list.length }));

describe('files of the same tasks', () => {
  test('give the same tasks and ids, whatever their format, the names and the order of their columns', async () => {
    using folder = tempFolder();
    await fc.assert(
      fc.asyncProperty(
        fc.array(task, { minLength: 1, maxLength: 5 }),
        columns,
        columns,
        async (tasks, some, others) => {
          const loaded = [];
          for (const [ending, write] of Object.entries(WRITERS)) {
            for (const chosen of [some, others]) {
              const path = join(folder.path, `tasks${ending}`);
              await writeFile(path, write(tasks, chosen));
              loaded.push((await loadTasks(path)).rows.map(({ value }) => value));
            }
          }
          for (const items of loaded) expect(items).toEqual(loaded[0]);
        },
      ),
      { numRuns: 15 },
    );
  });
});

test.each(['id', 'question', 'answer', 'answers', 'context', 'task_type', 'split', 'judge', 'type'])(
  'a %s that cannot be made text is refused in words',
  async (field) => {
    using folder = tempFolder({});
    const path = join(folder.path, 'tasks.jsonl');
    const odd: unknown[] = [{ toString: 1 }, [{ toString: 1 }], { toString: null, valueOf: {} }];
    for (const value of odd) {
      await writeFile(path, JSON.stringify({ question: 'Who?', answer: 'Ann', [field]: value }));
      const outcome = await loadTasks(path).catch((error) => error);
      expect(outcome).not.toBeInstanceOf(TypeError);
    }
  },
);
