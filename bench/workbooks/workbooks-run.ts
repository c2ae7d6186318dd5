// Reads one workbook, with all that we do or with the package alone, or compares two; says how long it took and what it needed at most.
import { readFileSync } from 'node:fs';
import { compareWorkbooks } from '../../src/benchmarks/spreadsheetbench/compare-workbooks.ts';
import { loadSheetJs, readWorkbook } from '../../src/benchmarks/spreadsheetbench/workbook.ts';

const [work, ...files] = process.argv.slice(2).map((file, index) => (index === 0 ? file : readFileSync(file)));
const [file, other] = files as Buffer[];
const sheetJs = await loadSheetJs();

/** What is done, made ready. Each finds a number: values, sheets or differences. */
const works: Readonly<Record<string, () => Promise<() => number | Promise<number>>>> = {
  read: async () => async () => {
    const { sheets } = await readWorkbook(file!);
    return [...sheets.get('Sheet1')!.values()].reduce((sum, { size }) => sum + size, 0);
  },
  package: async () => () =>
    sheetJs.read(file!, { type: 'buffer', cellNF: true, cellText: false, cellHTML: false, cellFormula: false })
      .SheetNames.length,
  async compare() {
    const [gold, got] = [await readWorkbook(file!), await readWorkbook(other!)];
    return () => compareWorkbooks(gold, got, { position: 'A1:H12000', rule: 'repaired' }).differing;
  },
};

const timed = await works[work as string]!();
const [started, before] = [performance.now(), process.cpuUsage()];
const found = await timed();
const ms = performance.now() - started;
const { user, system } = process.cpuUsage(before);
process.send!({ found, ms, cpuMs: (user + system) / 1_000, peakBytes: process.resourceUsage().maxRSS * 1024 });
