import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ModelCallError } from 'skillopt';
import { scripted } from 'skillopt/models';
import { describe, expect, it } from 'vitest';
import { DataFiles } from '../../../src/benchmarks/data/data-files.ts';
import { readItem, type SpreadsheetItem } from '../../../src/benchmarks/spreadsheetbench/item.ts';
import { notInstalled } from '../../../src/benchmarks/spreadsheetbench/workbook.ts';
import {
  answerWith,
  attempt,
  DOUBLING,
  doublingFolder,
  fenced,
  itemsOf,
  loadConfig,
  open,
} from '../../support/benchmarks/spreadsheet-env.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { workbookFile } from '../../support/workbook-file.ts';
import { lacksBubblewrap } from '../workspaces/kinds.ts';

const DEMO = resolve('examples/benchmarks/spreadsheetbench');
const sandbox = lacksBubblewrap ? 'none' : 'auto';
const javascript = { sandbox, extras: { language: 'javascript' } };
const inJavaScript = (code: string) => fenced('javascript', code);

describe('the demo of SpreadsheetBench', () => {
  const openDemo = () => loadConfig(join(DEMO, 'skillopt.config.yaml'), { sandbox });

  /** Writes the right workbooks, by the hash of the one that is to be changed. */
  const codeFor = ({ cases }: SpreadsheetItem): string => {
    const known = cases.map(({ inputSha256, answer }) => [
      inputSha256,
      readFileSync(join(DEMO, answer)).toString('base64'),
    ]);
    return `import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
const known = ${JSON.stringify(Object.fromEntries(known))};
const key = createHash('sha256').update(readFileSync(INPUT_PATH)).digest('hex');
writeFileSync(OUTPUT_PATH, Buffer.from(known[key], 'base64'));`;
  };

  it('is solved by an oracle, and by nobody who answers nothing', async () => {
    const env = await openDemo();
    await env.setup!({} as never);
    const items = await itemsOf(env);
    expect(items).toHaveLength(12);
    const oracle = scripted('oracle', ({ messages }) => {
      const item = items.find(({ instruction }) => messages[1]!.content.includes(instruction))!;
      return inJavaScript(codeFor(item));
    });
    const empty = scripted('empty', () => '');
    for (const item of items) {
      const [solved, unsolved] = [
        await attempt(env, { item, target: oracle }),
        await attempt(env, { item, target: empty }),
      ];
      expect(solved).toMatchObject({ hard: 1, soft: 1, nTurns: 1, taskType: item.taskType });
      expect(unsolved).toMatchObject({ hard: 0, soft: 0, nTurns: 30, failReason: expect.stringContaining('no code') });
    }
  });

  it('has no item that is right when nothing is done', async () => {
    const env = await openDemo();
    const probes = await Promise.all((await itemsOf(env)).map(async (item) => env.probe(item)));
    expect(probes).toEqual(probes.map(() => ({ right: 1, nothing: 0 })));
    expect(await env.tryScoring!()).toMatchObject({ passesAll: false });
    expect(env.warnings).toContainEqual(expect.stringContaining('JavaScript'));
    expect([env.card?.rule, env.version]).toEqual([
      expect.stringContaining('JavaScript'),
      expect.stringMatching(/rule repaired, Node in .*30 turns/),
    ]);
  });

  it('is loaded by a config of SkillOpt, from the folders that it names', async () => {
    using folder = tempFolder();
    for (const split of ['train', 'val', 'test'])
      cpSync(join(DEMO, split), join(folder.path, 'data/spreadsheetbench_split', split), { recursive: true });
    const books = join(folder.path, 'data/spreadsheetbench_verified_400/spreadsheet');
    cpSync(join(DEMO, 'spreadsheet'), books, { recursive: true });
    const config = resolve('test/fixtures/skillopt-configs/spreadsheetbench/default.yaml');
    const env = await loadConfig(config, {}, folder.path);
    expect((await itemsOf(env)).map(({ cases }) => cases.length)).toEqual([2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    expect(env.version).toContain('python3 in bubblewrap for 600 s, 30 turns, output 16384');
  });
});

describe('an attempt', () => {
  it('shows the target what its code did wrong, and tries the code that runs on all workbooks', async () => {
    using folder = doublingFolder(javascript);
    const wrong = inJavaScript("console.log('so far');\nthrow new Error('no such sheet');");
    const { requests, ...result } = await answerWith(
      folder.path,
      'I think.',
      '',
      wrong,
      inJavaScript(DOUBLING.javascript),
    );
    expect(result).toMatchObject({ hard: 1, soft: 1, nTurns: 4, predictedAnswer: DOUBLING.javascript });
    expect(result.conversation!.length).toBe(8);
    const [first, , afterNothing, afterError] = requests.map(({ messages }) => messages);
    expect(first![0]!.content).toContain('Be exact.');
    expect(first![1]!.content).toMatchInlineSnapshot(`
      "# Wanted

      Put twice the number in A1 into B1.

      Kind of task: Cell-Level Manipulation

      The result is looked for at: 'Sheet1'!B1

      # The workbook

      Sheet "Sheet1" (A1:A1)
      A1: 21"
    `);
    expect(afterNothing!.at(-1)!.content).toContain('There is no code in this answer');
    expect(afterError!.at(-1)!.content).toMatch(/exit code 1\nso far\n.*no such sheet/s);
    expect(afterError!.at(-1)!.content).not.toContain(folder.path);
  });

  it('never names a folder that is another one each time: replies are cached by what was asked', async () => {
    using folder = doublingFolder({ sandbox: 'none', extras: { language: 'javascript' } });
    const { requests } = await answerWith(folder.path, inJavaScript('nonsense();'), inJavaScript(DOUBLING.javascript));
    const said = requests[1]!.messages.at(-1)!.content;
    expect(said).toContain('file://./solution.mjs:1');
    expect(said).not.toContain('skillopt-rollouts');
  });

  it('is one reply in single mode, and scores each workbook', async () => {
    using folder = doublingFolder({ ...javascript, extras: { language: 'javascript', mode: 'single' } });
    const onlyFirst = DOUBLING.javascript.replace('sheet.A1.v * 2', '42');
    expect(await answerWith(folder.path, inJavaScript(onlyFirst))).toMatchObject({
      ...{ hard: 0, soft: 0.5, nTurns: 1 },
      failReason: '1 of 2 workbooks: Sheet1!B1: expected 8, got 42',
      referenceText: 'Sheet1!B1: expected 8, got 42',
    });
    const failed = await answerWith(folder.path, inJavaScript('nonsense();'), inJavaScript(DOUBLING.javascript));
    expect(failed).toMatchObject({ hard: 0, soft: 0, nTurns: 1, failReason: expect.stringContaining('exit code 1') });
  });

  it.each([
    ['no file', "console.log('done');", 'there is no file at OUTPUT_PATH'],
    ['a link', "import { symlinkSync } from 'node:fs'; symlinkSync('/etc/passwd', OUTPUT_PATH);", 'no plain file'],
    ['a folder', "import { mkdirSync } from 'node:fs'; mkdirSync(OUTPUT_PATH);", 'no plain file'],
    [
      'no workbook',
      "import { writeFileSync } from 'node:fs'; writeFileSync(OUTPUT_PATH, 'x');",
      'cannot be read: it is no Excel',
    ],
    [
      'a giant',
      "import { truncateSync, writeFileSync } from 'node:fs'; writeFileSync(OUTPUT_PATH, ''); truncateSync(OUTPUT_PATH, 60e6);",
      '60000000 bytes',
    ],
    ['too late', 'await new Promise((resolve) => setTimeout(resolve, 60_000));', 'stopped after 1 second'],
  ])('whose code leaves %s behind scores 0, with the reason', async (_, code, reason) => {
    const extras = {
      language: 'javascript',
      mode: 'single',
      ...(reason.includes('1 second') ? { execTimeout: 1 } : {}),
    };
    using folder = doublingFolder({ sandbox, extras });
    const { hard, soft, failReason } = await answerWith(folder.path, inJavaScript(code));
    expect([hard, soft, failReason]).toEqual([0, 0, expect.stringContaining(reason)]);
  });

  it('says that formulas without values read as empty', async () => {
    using folder = doublingFolder({ ...javascript, extras: { language: 'javascript', mode: 'single' } });
    const book = workbookFile([{ name: 'Sheet1', rows: [[21, { formula: 'A1*2' }]] }]);
    const code = `import { writeFileSync } from 'node:fs';
writeFileSync(OUTPUT_PATH, Buffer.from('${book.toString('base64')}', 'base64'));`;
    const { failReason } = await answerWith(folder.path, inJavaScript(code));
    expect(failReason).toContain('expected 42, got nothing (1 formula without a value: read as empty)');
  });

  it('passes on what is no fault of the code: a model that fails, a signal, a file that is gone', async () => {
    using folder = doublingFolder(javascript);
    const env = await open(folder.path);
    const [item] = await itemsOf(env);
    const broken = scripted('broken', () => Promise.reject(new ModelCallError('no answer')));
    await expect(attempt(env, { item: item!, target: broken })).rejects.toThrow('no answer');
    const endless = scripted('endless', () => inJavaScript('setInterval(() => {}, 1000);'));
    const signal = AbortSignal.timeout(1500);
    await expect(attempt(env, { item: item!, target: endless, signal })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    const missing = { ...item!, cases: [{ ...item!.cases[0]!, input: 'books/gone.xlsx' }] };
    await expect(attempt(env, { item: missing, target: endless })).rejects.toThrow('books/gone.xlsx is not in');
  });

  it('under the reference rule knows no answer with another name', async () => {
    using folder = doublingFolder({ ...javascript, extras: { language: 'javascript', rule: 'reference' } });
    for (const number of [1, 2]) {
      const name = (id: number) => join(folder.path, `books/1/${number}_${id}_golden.xlsx`);
      cpSync(name(1), name(9));
      writeFileSync(name(1), '');
    }
    const env = await open(folder.path);
    const [item] = await itemsOf(env);
    const cases = item!.cases.map((one) => ({ ...one, answer: one.answer.replace('_1_golden', '_9_golden') }));
    const target = scripted('unasked', () => '');
    const result = await attempt(env, { item: { ...item!, cases }, target });
    expect([result, target.requests]).toMatchObject([
      { hard: 0, soft: 0, failReason: expect.stringContaining('no test cases') },
      [],
    ]);
    expect(await env.probe({ ...item!, cases })).toMatchObject({ right: undefined, problem: 'it has no test cases' });
  });
});

describe('a row of SpreadsheetBench', () => {
  const read = (value: object, path: string, rule: 'repaired' | 'reference' = 'repaired') =>
    readItem({ value, where: 'x' }, { files: new DataFiles([path]), keep: () => Promise.reject() }, rule);
  const upstream = {
    id: 1,
    instruction: 'Do it',
    answer_position: 'B1',
    spreadsheet_path: 'books/1',
    answer_sheet: '',
  };

  it('becomes an item, and an item stays what it is', async () => {
    using folder = doublingFolder();
    const item = await read(upstream, folder.path);
    expect(item).toMatchObject({ id: 1, instruction: 'Do it', answerPosition: 'B1' });
    expect((item as SpreadsheetItem).cases.map(({ input, answer }) => [input, answer])).toEqual([
      ['books/1/1_1_init.xlsx', 'books/1/1_1_golden.xlsx'],
      ['books/1/2_1_init.xlsx', 'books/1/2_1_golden.xlsx'],
    ]);
    expect(await read(JSON.parse(JSON.stringify(item)), folder.path)).toEqual(item);
    writeFileSync(join(folder.path, 'books/1/2_1_golden.xlsx'), 'changed');
    await expect(read(item as object, folder.path)).rejects.toThrow('2_1_golden.xlsx has changed');
  });

  it('must have its workbooks, and none elsewhere', async () => {
    using folder = doublingFolder();
    mkdirSync(join(folder.path, 'empty'));
    await expect(read({ ...upstream, spreadsheet_path: 'empty' }, folder.path)).rejects.toThrow('no pair of workbooks');
    expect(await read({ ...upstream, spreadsheet_path: 'empty' }, folder.path, 'reference')).toMatchObject({
      cases: [],
    });
    await expect(read({ ...upstream, spreadsheet_path: '../..' }, folder.path)).rejects.toThrow('leads out of');
    symlinkSync('/etc', join(folder.path, 'books/2'));
    await expect(read({ ...upstream, spreadsheet_path: 'books/2' }, folder.path)).rejects.toThrow('leads out of');
    await expect(read({ id: 3, instruction: 'x' }, folder.path)).rejects.toThrow('spreadsheet/3 is not in');
  });
});

describe('settings of SpreadsheetBench', () => {
  it('may be texts, and refuse what is not offered', async () => {
    using texts = doublingFolder({
      extras: { max_turns: '7', exec_timeout: '-1', max_completion_tokens: '99', workers: 'x' },
    });
    const { version, warnings } = await open(texts.path);
    expect([version, warnings]).toEqual([
      expect.stringContaining('for 86400 s, 7 turns, output 99'),
      expect.anything(),
    ]);
    using react = doublingFolder({ extras: { mode: 'react' } });
    await expect(open(react.path)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('react gives the model tools, and is not offered here'),
    });
  });

  it('say what is not safe and what is not comparable', async () => {
    using folder = doublingFolder({ sandbox: 'none', extras: { language: 'javascript' } });
    const { warnings } = await open(folder.path);
    expect(warnings!.slice(0, 2)).toEqual([
      expect.stringContaining('do not compare'),
      expect.stringContaining('without a sandbox'),
    ]);
  });

  it('name the package that reads workbooks', () => {
    const hint = expect.stringContaining('npm install @e965/xlsx');
    expect(() => notInstalled(new Error('gone'))).toThrow(expect.objectContaining({ code: 'USAGE', hint }));
  });

  it('ask for a Python that has openpyxl', async () => {
    using folder = doublingFolder({ sandbox, extras: { python: 'no-such-python' } });
    const env = await open(folder.path);
    await expect((async () => env.setup!({} as never))()).rejects.toMatchObject({
      code: 'ENV_INVALID',
      message: expect.stringContaining('needs openpyxl in no-such-python'),
      hint: expect.stringContaining('python3-openpyxl'),
    });
  });
});
