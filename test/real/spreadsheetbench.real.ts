import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DataFiles } from '../../src/benchmarks/data/data-files.ts';
import { compareWorkbooks } from '../../src/benchmarks/spreadsheetbench/compare-workbooks.ts';
import { findCases, isMisnamed } from '../../src/benchmarks/spreadsheetbench/find-cases.ts';
import { RULES, type Rule } from '../../src/benchmarks/spreadsheetbench/ranges.ts';
import { readWorkbook } from '../../src/benchmarks/spreadsheetbench/workbook.ts';
import { goldenCases } from '../support/golden-cases.ts';

const folder = process.env.SPREADSHEETBENCH ?? '';
const HOW =
  'skipped: unpack SpreadsheetBench Verified 400, and name the folder with its dataset.json in the variable SPREADSHEETBENCH';

type Row = { id: string | number; answer_position: string; answer_sheet?: string; spreadsheet_path?: string };
type Verdict = boolean | 'error' | 'no-cases';
type Verdicts = { readonly goldVsGold: Verdict; readonly inputVsGold: Verdict };
type Golden = { id: string; reference: Verdicts; official: Verdicts };

const isThere = existsSync(join(folder, 'dataset.json'));
if (!isThere) process.stderr.write(`SpreadsheetBench Verified 400: ${HOW}\n`);

describe.skipIf(!isThere)('SpreadsheetBench Verified 400', async () => {
  const rows = (isThere ? JSON.parse(readFileSync(join(folder, 'dataset.json'), 'utf8')) : []) as Row[];
  const files = new DataFiles([folder]);

  const verdictsOf = async (row: Row, rule: Rule): Promise<Verdicts> => {
    const pairs = await findCases(files, row.spreadsheet_path ?? `spreadsheet/${row.id}`);
    const pair = pairs.find((one) => rule !== 'reference' || !isMisnamed(one));
    if (pair === undefined) return { goldVsGold: 'no-cases', inputVsGold: 'no-cases' };
    const [gold, input] = [await read(pair.answer), await read(pair.input)];
    const asked = { position: row.answer_position, sheet: row.answer_sheet, rule };
    const [itself, untouched] = [gold, input].map((one): Verdict => {
      const { isEqual, isError } = compareWorkbooks(gold, one, asked);
      return isError ? 'error' : isEqual;
    });
    return { goldVsGold: itself!, inputVsGold: untouched! };
  };
  const read = async (name: string) => readWorkbook(await files.bytes(name));

  it('is scored as both scripts score it, and wholly when it is repaired', async () => {
    const golden = goldenCases<Golden>('spreadsheet-verified400');
    expect(rows.map(({ id }) => String(id)).sort()).toEqual(golden.map(({ id }) => id).sort());
    const byId = new Map(rows.map((row) => [String(row.id), row]));
    const seen: Golden[] = [];
    const unrepaired: string[] = [];
    for (const { id } of golden) {
      const [reference, official, repaired] = await Promise.all(
        RULES.map((rule) => verdictsOf(byId.get(id)!, rule)) as [
          Promise<Verdicts>,
          Promise<Verdicts>,
          Promise<Verdicts>,
        ],
      );
      seen.push({ id, reference, official });
      if (repaired.goldVsGold !== true || repaired.inputVsGold !== false) unrepaired.push(id);
    }
    expect(seen).toEqual(golden.map(({ id, reference, official }) => ({ id, reference, official })));
    expect(unrepaired).toEqual([]);
  });
});
