import type { Range, WorkSheet } from '@e965/xlsx';
import { SkillError } from '../../core/contracts/index.ts';
import { memoize } from '../../core/text/index.ts';
import { type CellValue, kindOfFormat, type NumberKind, serialValue } from './cell-values.ts';
import { repackWorkbook } from './repack-workbook.ts';

/** Filled cells by column, then by row, both from 1. */
export type Sheet = ReadonlyMap<number, ReadonlyMap<number, CellValue>>;

/** What a workbook shows: the values that were stored with it. Nothing is calculated. */
export type Workbook = {
  /** In order, also those that hold a chart and no cells. */
  readonly sheetNames: readonly string[];
  readonly sheets: ReadonlyMap<string, Sheet>;
  /** Cells with a formula and no stored value: they are empty. */
  readonly uncalculated: number;
};

let loaded: Promise<typeof import('@e965/xlsx')> | undefined;

/** Loads the package, which is installed only where it is needed. */
export function loadSheetJs() {
  loaded ??= import('@e965/xlsx').catch(notInstalled);
  return loaded;
}

export function notInstalled(cause: unknown): never {
  throw new SkillError('USAGE', 'spreadsheetbench reads workbooks with the package @e965/xlsx: it is not installed', {
    cause,
    hint: 'Install it beside skillopt: npm install @e965/xlsx',
  });
}

/** Throws an Error that says what is wrong with the file. */
export async function readWorkbook(bytes: Uint8Array): Promise<Workbook> {
  const sheetJs = await loadSheetJs();
  const { stored, uncalculated } = await repackWorkbook(bytes);
  const options = { type: 'array', cellNF: true, cellText: false, cellHTML: false, cellFormula: false } as const;
  const read = sheetJs.read(stored, options);
  const how = { kindOf: memoize(kindOfFormat), from1904: read.Workbook?.WBProps?.date1904 === true };
  const sheets = new Map<string, Sheet>();
  for (const name of read.SheetNames) {
    const sheet = read.Sheets[name];
    if (sheet !== undefined && (sheet['!type'] ?? 'sheet') === 'sheet') sheets.set(name, readSheet(sheet, how));
  }
  return { sheetNames: read.SheetNames, sheets, uncalculated };
}

type HowToRead = { readonly kindOf: (format: string | number | undefined) => NumberKind; readonly from1904: boolean };

/** What Excel shows for errors, by the number that SheetJS gives them. */
const ERRORS: ReadonlyMap<unknown, string> = new Map([
  [0x00, '#NULL!'],
  [0x07, '#DIV/0!'],
  [0x0f, '#VALUE!'],
  [0x17, '#REF!'],
  [0x1d, '#NAME?'],
  [0x24, '#NUM!'],
  [0x2a, '#N/A'],
  [0x2b, '#GETTING_DATA'],
]);

function readSheet(sheet: WorkSheet, { kindOf, from1904 }: HowToRead): Sheet {
  const cells = new Map<number, Map<number, CellValue>>();
  for (const name of Object.keys(sheet)) {
    const place = name.startsWith('!') ? undefined : placeOf(name);
    if (place === undefined) continue;
    const { t: type, v: value, z: format } = sheet[name] as { t: string; v?: unknown; z?: string | number };
    let read: CellValue | undefined;
    if (type === 'e') read = ERRORS.get(value) ?? '#ERROR';
    else if (typeof value === 'string' || typeof value === 'boolean') read = value;
    else if (typeof value === 'number') {
      const kind = kindOf(format);
      read = kind === 'number' ? value : serialValue(value, kind, { from1904 });
    }
    if (read === undefined) continue;
    const column = cells.get(place.column);
    if (column) column.set(place.row, read);
    else cells.set(place.column, new Map([[place.row, read]]));
  }
  emptyMerged(cells, sheet['!merges'] ?? []);
  return cells;
}

/** `AB12`. Anything else that a file calls a cell is not one. */
function placeOf(name: string): { readonly column: number; readonly row: number } | undefined {
  const [, letters, row] = /^([A-Z]{1,3})([1-9]\d{0,6})$/.exec(name) ?? [];
  if (letters === undefined) return undefined;
  let column = 0;
  for (let at = 0; at < letters.length; at++) column = column * 26 + letters.charCodeAt(at) - 64;
  return { column, row: Number(row) };
}

/** A file that needs more was made to keep us busy. */
const MOST_LOOKS = 50_000_000;

/** Of merged cells, only the first has a value, whatever is stored for the others. */
function emptyMerged(cells: ReadonlyMap<number, Map<number, CellValue>>, merges: readonly Range[]): void {
  let looks = 0;
  for (const { s: start, e: end } of merges) {
    for (const [column, rows] of cells) {
      if (++looks > MOST_LOOKS) throw new Error('it has too many merged cells');
      if (column < start.c + 1 || column > end.c + 1) continue;
      const covered = rowsBetween(rows, start.r + 1, end.r + 1);
      looks += Math.min(rows.size, end.r - start.r);
      for (const row of covered) if (row !== start.r + 1 || column !== start.c + 1) rows.delete(row);
    }
  }
}

/** Looks at the rows that are filled or at those that are asked for, whichever are fewer. */
function rowsBetween(rows: ReadonlyMap<number, unknown>, first: number, last: number): number[] {
  if (last - first >= rows.size) return [...rows.keys()].filter((row) => row >= first && row <= last);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
