import { CsvError, type Info, parse } from 'csv-parse/sync';
import { strip } from '../../core/text/python-text.ts';
import type { Row } from './row.ts';
import { tasksInvalid } from './tasks-invalid.ts';

type Cells = { readonly [column: string]: string };
type CsvRecord = { readonly record: Cells; readonly info: Info };

const HINT = 'The first line names the columns; a cell with a comma or a line break stands in double quotes.';

/** Rows under a header. Every cell is text, but `answers` is a list. */
export function readCsv(text: string, path: string): Row[] {
  // The parser takes a CRLF inside quotes for two lines.
  return parseRecords(text.replace(/\r\n?/g, '\n'), path).map(({ record, info }) => ({
    value: 'answers' in record ? { ...record, answers: toList(record.answers!) } : record,
    where: `${path}:${firstLine(record, info.lines)}`,
  }));
}

function parseRecords(text: string, path: string): CsvRecord[] {
  let wholeLines = 0;
  const onRecord = (record: CsvRecord, { lines }: { lines: number }) => {
    wholeLines = lines;
    return record;
  };
  try {
    return parse<CsvRecord>(text, { columns: true, info: true, skipEmptyLines: true, trim: true, onRecord });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw tasksInvalid([`${path}:${describe(error, wholeLines)}`], HINT, error);
  }
}

function describe({ code, message, lines, record }: CsvError, wholeLines: number): string {
  // The parser only knows that the file ended inside the quotes.
  if (code === 'CSV_QUOTE_NOT_CLOSED') return `${wholeLines + 1}: a quote that opens here or later is never closed`;
  const line = firstLine((record ?? []) as string[], Number(lines));
  return `${line}: expected CSV: ${message.replace(/ (?:on|at) line \d+/, '')}`;
}

/** The parser tells the line where a record ends; line breaks in its cells lead back to where it began. */
function firstLine(cells: Cells | readonly string[], lastLine: number): number {
  return lastLine + 1 - Object.values(cells).join('').split('\n').length;
}

/** A cell that is no list stays as it is, so that the error can show it. */
function toList(cell: string): unknown {
  if (cell === '') return cell;
  return cell.startsWith('[') ? parseJson(cell) : cell.split('|').map(strip);
}

function parseJson(cell: string): unknown {
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}
