import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RolloutResult } from '../../../src/core/contracts/index.ts';
import { attemptViews } from '../../../src/core/run/index.ts';
import { listAttemptFiles, readAttempt, readAttemptIndex } from '../../../src/stores/index.ts';
import { temporaryDirectory } from './run-directory.fixture.ts';

const attempts: RolloutResult[] = [
  { id: 'a', hard: 1, soft: 0.5, question: 'a "quoted" \\ [brace} ü 😀\n{' },
  { id: 'b', hard: 0, soft: 0, errored: true, failReason: 'no answer', conversation: [{ role: 'user', content: ']' }] },
  { id: 'a', hard: 0, soft: 0.25, predictedAnswer: 'again' },
];

/** A run folder with files in it. */
async function runFolder(files: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryDirectory();
  const write = async (name: string, text: string) => {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), text);
  };
  for (const [name, text] of Object.entries(files)) await write(name, text);
  return { ...folder, write, at: (name: string) => join(folder.path, name) };
}

async function readAll(path: string) {
  const rows = await readAttemptIndex(path);
  return Promise.all(rows.map((row) => readAttempt(path, row)));
}

describe('the index beside a file of results', () => {
  it('has the place and the scores of each attempt', async () => {
    await using folder = await runFolder(attemptViews('baseline_selection_eval/results', attempts));
    const path = folder.at('baseline_selection_eval/results.json');
    const rows = await readAttemptIndex(path);
    expect(rows.map(({ id, hard, soft, errored }) => [id, hard, soft, errored])).toEqual([
      ['a', 1, 0.5, false],
      ['b', 0, 0, true],
      ['a', 0, 0.25, false],
    ]);
    const bytes = await readFile(path);
    for (const [index, { id, offset, length }] of rows.entries()) {
      expect(JSON.parse(bytes.toString('utf8', offset, offset + length))).toMatchObject({
        id,
        hard: attempts[index]!.hard,
      });
    }
    expect(await readAll(path)).toEqual(attempts);
  });

  it('is enough: the rest of the file is not read', async () => {
    await using folder = await runFolder(attemptViews('final_measurement/results', attempts));
    const path = folder.at('final_measurement/results.json');
    const rows = await readAttemptIndex(path);
    const bytes = await readFile(path);
    bytes.fill('x', 0, rows[1]!.offset).fill('x', rows[2]!.offset);
    await writeFile(path, bytes);
    expect(await readAttempt(path, (await readAttemptIndex(path))[1]!)).toEqual(attempts[1]);
    await expect(readAttempt(path, rows[0]!)).rejects.toThrow('cannot be read');
  });

  it.each([
    ['is missing', undefined],
    ['is of a file with another size', '{"format":1,"size":3,"rows":[]}'],
    [
      'has rows outside the file',
      (size: number) => JSON.stringify({ format: 1, size, rows: [['a', size, 9, 1, 1, 0]] }),
    ],
    ['has rows of another form', (size: number) => JSON.stringify({ format: 1, size, rows: [{ id: 'a' }] })],
    ['has a newer format', (size: number) => JSON.stringify({ format: 2, size, rows: [] })],
    ['is torn', '{"format":1,'],
  ] as const)('is made from the file where it %s', async (_, index) => {
    const views = attemptViews('final_measurement/results', attempts);
    await using folder = await runFolder(views);
    const [path, beside] = ['results.json', 'results.index.json'].map((name) => folder.at(`final_measurement/${name}`));
    const known = await readAttemptIndex(path!);
    if (index === undefined) await rm(beside!);
    else await writeFile(beside!, typeof index === 'string' ? index : index((await readFile(path!)).length));
    expect(await readAttemptIndex(path!)).toEqual(known);
    expect(await readAll(path!)).toEqual(attempts);
  });

  it('gives back every attempt, with and without it', async () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('"', '\\"', '}],', '😀{'));
    const result = fc.record({ id: text, hard: fc.constantFrom(0, 1), soft: fc.constantFrom(0, 0.5), question: text });
    await using folder = await runFolder();
    const path = folder.at('r/results.json');
    await fc.assert(
      fc.asyncProperty(fc.array(result, { minLength: 1, maxLength: 5 }), async (results) => {
        for (const [name, text] of Object.entries(attemptViews('r/results', results))) await folder.write(name, text);
        expect(await readAll(path)).toEqual(results);
        await rm(folder.at('r/results.index.json'));
        expect(await readAll(path)).toEqual(results);
        await writeFile(path, JSON.stringify(results));
        expect(await readAll(path)).toEqual(results);
      }),
      { numRuns: 20 },
    );
  });

  it('is not written without attempts', () => {
    expect(attemptViews('final_measurement/results', [])).toEqual({});
  });

  it('is no excuse for a damaged file: it is named, with what to do', async () => {
    await using folder = await runFolder({ 'final_measurement/results.json': '[{"id":"a"' });
    const error = await readAttemptIndex(folder.at('final_measurement/results.json')).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'JOURNAL_CORRUPT', hint: expect.stringContaining('Remove the file') });
  });
});

describe('the files with attempts', () => {
  it('are listed in the order of the run, each with the part that made it', async () => {
    const names = [
      'test_eval_best/results',
      'final_measurement/results',
      'prune_eval/try_10/results',
      'prune_eval/try_2/results',
      'final_selection_eval/best',
      'final_selection_eval/results',
      'slow_update/epoch_02/selection_eval/current',
      'slow_update/epoch_02/selection_eval/results',
      'steps/step_0010/rollout_results',
      'steps/step_0002/removal_eval/results',
      'steps/step_0002/salvage_eval/part_10/results',
      'steps/step_0002/salvage_eval/part_2/second_pass',
      'steps/step_0002/selection_eval/current',
      'steps/step_0002/selection_eval/asked_again',
      'steps/step_0002/selection_eval/second_pass',
      'steps/step_0002/selection_eval/results',
      'steps/step_0002/rollout_results',
      'baseline_selection_eval/pass_2',
      'baseline_selection_eval/results',
    ];
    await using folder = await runFolder(Object.assign({}, ...names.map((name) => attemptViews(name, attempts))));
    for (const other of ['summary.json', 'steps/step_0002/step_record.json', 'baseline_selection_eval/summary.json'])
      await folder.write(other, '{}');
    await symlink(folder.at('test_eval_best/results.json'), folder.at('final_selection_eval/current.json'));
    const files = await listAttemptFiles(folder.path);
    expect(files.map(({ file }) => file)).toEqual(names.reverse());
    expect(files.every(({ path, file }) => path === folder.at(`${file}.json`))).toBe(true);
    expect(files.map(({ part, step }) => (step === undefined ? part : `${step}: ${part}`))).toMatchInlineSnapshot(`
      [
        "the beginning",
        "the beginning again",
        "2: step 2, training",
        "2: step 2, the candidate",
        "2: step 2, the candidate again",
        "2: step 2, the candidate again",
        "2: step 2, the current skill again",
        "2: step 2, a part of the patch again",
        "2: step 2, a part of the patch",
        "2: step 2, without a passage",
        "10: step 10, training",
        "epoch 2, guidance",
        "epoch 2, the current skill again",
        "the end",
        "the end, the best skill",
        "pruning",
        "pruning",
        "the final measurement",
        "test, best skill",
      ]
    `);
  });
});
