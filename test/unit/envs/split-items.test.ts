import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { loadQaItems, type Row, splitItems } from 'skillopt/envs';
import { describe, expect, test } from 'vitest';

const rowsOf = (count: number): Row<{ id: string }>[] =>
  Array.from({ length: count }, (_, index) => ({ value: { id: `q${index}` }, where: `tasks.jsonl:${index + 1}` }));

const countsOf = (count: number, ratio?: string) => {
  const { train, val, test: held } = splitItems(rowsOf(count), { seed: 42, ...(ratio === undefined ? {} : { ratio }) });
  return [train.length, val.length, held.length];
};

/** The ids per split of a JSONL file with these rows, or the message of what went wrong. */
async function splitFile(rows: readonly object[]) {
  const folder = await mkdtemp(join(tmpdir(), 'skillopt-split-'));
  try {
    const path = join(folder, 'tasks.jsonl');
    await writeFile(path, rows.map((row) => `${JSON.stringify({ question: 'q', answer: 'a', ...row })}\n`).join(''));
    const splits = splitItems(await loadQaItems(path), { seed: 42 });
    return Object.fromEntries(Object.entries(splits).map(([name, items]) => [name, items.map((item) => item.id)]));
  } catch (error) {
    expect(error).toMatchObject({ code: 'TASKS_INVALID', hint: expect.any(String) });
    return (error as Error).message.replaceAll(folder + sep, '');
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('rows that name their split', () => {
  test('go there, in the order of the file', async () => {
    const rows = ['test', 'train', 'val', 'train', 'selection', 'valid_unseen', 'valid_seen'];
    expect(await splitFile(rows.map((split, index) => ({ id: index, split })))).toEqual({
      train: ['1', '3'],
      val: ['2', '4', '6'],
      test: ['0', '5'],
    });
  });

  test('do not carry it into the task', () => {
    const [row] = rowsOf(1);
    expect(splitItems([{ ...row!, split: 'val' }], { seed: 1 }).val).toEqual([{ id: 'q0' }]);
  });

  test('must name a known one', async () => {
    expect(
      await splitFile([
        { id: 1, split: 'train' },
        { id: 2, split: 'dev' },
        { id: 3, split: 4 },
      ]),
    ).toMatchInlineSnapshot(`
      "tasks.jsonl:2: "split" must be one of train, val, test, selection, valid_seen, valid_unseen, got "dev"
      tasks.jsonl:3: "split" must be one of train, val, test, selection, valid_seen, valid_unseen, got "4""
    `);
  });

  test('must be all rows or none', async () => {
    expect(await splitFile([{ id: 1, split: 'train' }, { id: 2 }, { id: 3, split: null }])).toMatchInlineSnapshot(
      `"tasks.jsonl:2: 2 of 3 rows have no "split", this one first"`,
    );
  });
});

describe('rows that name no split', () => {
  test.each([
    [0, [0, 0, 0]],
    [1, [0, 0, 1]],
    [2, [1, 0, 1]],
    [7, [1, 1, 5]],
    [99, [20, 10, 69]],
    [177, [35, 18, 124]],
    [534, [107, 53, 374]],
  ])('%d of them at 2:1:7 are %j', (count, counts) => {
    expect(countsOf(count, '2:1:7')).toEqual(counts);
  });

  test('are split 4:3:3 unless told otherwise', () => {
    expect(countsOf(30)).toEqual([12, 9, 9]);
  });

  test('that are left over go to the greater weight when the remainders are equal', () => {
    expect(countsOf(4, '1:3:4')).toEqual([0, 2, 2]);
  });

  test.each(['2::1:7', ':2:1:7:', '0.2:0.1:0.7'])('take the ratio %j for 2:1:7', (ratio) => {
    expect(countsOf(99, ratio)).toEqual([20, 10, 69]);
  });

  test.each(['1:1:0', '1:1', '1:1:1:1', '', 'a:b:c', '-1:1:1', '1e3:1:1', 'Infinity:1:1', '1: :1'])(
    'refuse the ratio %j',
    (ratio) => {
      expect(() => countsOf(10, ratio)).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: `ratio: expected three positive numbers such as 4:3:3, got "${ratio}"`,
        }),
      );
    },
  );

  test('are drawn as Python’s shuffle orders them, and stay in the order of the file', () => {
    // random.Random(42) shuffles range(10) to 7 3 2 8 5 6 9 4 0 1.
    const { train, val, test: held } = splitItems(rowsOf(10), { seed: 42 });
    expect(train.map((item) => item.id)).toEqual(['q2', 'q3', 'q7', 'q8']);
    expect(val.map((item) => item.id)).toEqual(['q5', 'q6', 'q9']);
    expect(held.map((item) => item.id)).toEqual(['q0', 'q1', 'q4']);
  });
});

describe('two rows with one id', () => {
  test('are an error that names both places', async () => {
    expect(await splitFile([{ id: 'q0' }, { id: 'q1' }, { id: 'q2' }, { id: 'q1' }])).toMatchInlineSnapshot(
      `"tasks.jsonl:2 and tasks.jsonl:4 share the id "q1""`,
    );
  });

  test('are an error across splits too, also when one id is a number', async () => {
    expect(
      await splitFile([
        { id: 1, split: 'train' },
        { id: '1', split: 'test' },
      ]),
    ).toMatchInlineSnapshot(`"tasks.jsonl:1 and tasks.jsonl:2 share the id "1""`);
  });
});
