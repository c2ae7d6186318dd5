import type { WorkSheet } from '@e965/xlsx';
import { columnName } from './ranges.ts';
import { repackWorkbook } from './repack-workbook.ts';
import { loadSheetJs, readWorkbook, type Sheet } from './workbook.ts';

const [MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS] = [5, 20, 40];

/** The beginning of each sheet, with formulas as they are written. */
export async function previewWorkbook(bytes: Uint8Array): Promise<string> {
  const { read, utils } = await loadSheetJs();
  const { sheets } = await readWorkbook(bytes);
  const { stored } = await repackWorkbook(bytes);
  const workbook = read(stored, { type: 'array', sheetRows: MOST_ROWS, sheetStubs: true });
  /** A file may not say how large a sheet is, and a formula may have no value yet. */
  const sizeOf = (sheet: WorkSheet, filled: Sheet): Size => {
    const range = sheet['!fullref'] ?? sheet['!ref'];
    const { e: end } = range === undefined ? { e: { r: -1, c: -1 } } : utils.decode_range(range);
    const rows = [...filled.values()].map((column) => largest(column.keys()));
    return { rows: largest([end.r + 1, ...rows]), columns: largest([end.c + 1, ...filled.keys()]) };
  };
  const shown = workbook.SheetNames.map((name) => {
    const [sheet, filled] = [workbook.Sheets[name], sheets.get(name)];
    if (sheet === undefined || filled === undefined) return `Sheet ${JSON.stringify(name)}: no cells`;
    return previewSheet(name, sheet, sizeOf(sheet, filled));
  });
  return shown.join('\n\n');
}

/** A call with a million arguments would fail. */
function largest(numbers: Iterable<number>): number {
  let most = 0;
  for (const number of numbers) if (number > most) most = number;
  return most;
}

type Size = { readonly rows: number; readonly columns: number };

function previewSheet(name: string, sheet: WorkSheet, { rows, columns }: Size): string {
  if (rows === 0) return `Sheet ${JSON.stringify(name)}: empty`;
  const [shownRows, shownColumns] = [Math.min(rows, MOST_ROWS), Math.min(columns, MOST_COLUMNS)];
  const lines = Array.from({ length: shownRows }, (_, row) => {
    const cells = Array.from({ length: shownColumns }, (_, column) => {
      const place = `${columnName(column + 1)}${row + 1}`;
      return `${place}: ${cellText(sheet[place])}`;
    });
    return cells.join(' | ');
  });
  const rest = [
    ...(rows > shownRows ? [`${rows - shownRows} more rows`] : []),
    ...(columns > shownColumns ? [`${columns - shownColumns} more columns`] : []),
  ];
  const size = `A1:${columnName(columns)}${rows}`;
  return [
    `Sheet ${JSON.stringify(name)} (${size})`,
    ...lines,
    ...(rest.length > 0 ? [`… ${rest.join(', ')}`] : []),
  ].join('\n');
}

type Shown = { readonly f?: string; readonly w?: string; readonly v?: unknown };

function cellText({ f: formula, w: text, v: value }: Shown = {}): string {
  const whole = formula === undefined ? (text ?? String(value ?? '')) : `=${formula}`;
  const line = whole.replace(/\s+/g, ' ');
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS - 1).toWellFormed()}…` : line;
}
