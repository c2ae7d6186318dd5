import type { WorkSheet } from '@e965/xlsx';
import { columnName } from './ranges.ts';
import { repackWorkbook } from './repack-workbook.ts';
import { loadSheetJs } from './workbook.ts';

const [MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS] = [5, 20, 40];

/** The beginning of each sheet, with formulas as they are written. */
export async function previewWorkbook(bytes: Uint8Array): Promise<string> {
  const { read, utils } = await loadSheetJs();
  const { stored } = await repackWorkbook(bytes);
  const workbook = read(stored, { type: 'array', sheetRows: MOST_ROWS, sheetStubs: true });
  const sizeOf = (sheet: WorkSheet) => {
    const whole = sheet['!fullref'] ?? sheet['!ref'];
    const { e: end } = whole === undefined ? { e: { r: -1, c: -1 } } : utils.decode_range(whole);
    return { rows: end.r + 1, columns: end.c + 1 };
  };
  return workbook.SheetNames.map((name) => {
    const sheet = workbook.Sheets[name];
    if (sheet === undefined || (sheet['!type'] ?? 'sheet') !== 'sheet')
      return `Sheet ${JSON.stringify(name)}: no cells`;
    return previewSheet(name, sheet, sizeOf(sheet));
  }).join('\n\n');
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
