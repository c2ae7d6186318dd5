import { CsvError, parse } from 'csv-parse/sync';
import { strip } from '../../core/text/index.ts';
import type { Row } from './row.ts';
import { tasksInvalid } from './tasks-invalid.ts';

type Cells = { readonly [column: string]: string };

const HINT = 'The first line names the columns; a cell with a separator or a line break stands in double quotes.';

/** Rows under a header. Every cell is text, but `answers` is a list. */
export function readCsv(text: string, path: string): Row[] {
  // The parser takes a CRLF inside quotes for two lines.
  const lines = text.replace(/\r\n?/g, '\n');
  return parseRows(lines, path, { delimiter: separatorOf(lines) });
}

/** The same with tabs between the cells. A quote inside a cell is a quote: most programs that write such files quote nothing. */
export function readTsv(text: string, path: string): Row[] {
  return parseRows(text.replace(/\r\n?/g, '\n'), path, { delimiter: '\t', relaxQuotes: true });
}

/** Spreadsheets of many countries write semicolons into what they call CSV. */
function separatorOf(text: string): string {
  const header = text.slice(0, text.indexOf('\n') + 1 || undefined);
  return [',', ';', '\t'].find((separator) => header.includes(separator)) ?? ',';
}

type Separation = { readonly delimiter: string; readonly relaxQuotes?: true };

function parseRows(text: string, path: string, separation: Separation): Row[] {
  let wholeLines = 0;
  const onRecord = (record: Cells, { lines }: { lines: number }): Row => {
    wholeLines = lines;
    return { value: withList(record), where: `${path}:${firstLine(record, lines)}` };
  };
  try {
    const format = { ...separation, columns: true, skipEmptyLines: true, trim: true } as const;
    return parse(text, { ...format, onRecord: onRecord as never }) as unknown as Row[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const name = separation.delimiter === '\t' ? 'TSV' : 'CSV';
    throw tasksInvalid([`${path}:${describe(error, wholeLines, name)}`], HINT, error);
  }
}

function withList(record: Cells): unknown {
  const column = Object.keys(record).find((name) => name.toLowerCase() === 'answers');
  return column === undefined ? record : { ...record, [column]: toList(record[column]!) };
}

function describe({ code, message, lines, record }: CsvError, wholeLines: number, name: string): string {
  // The parser only knows that the file ended inside the quotes.
  if (code === 'CSV_QUOTE_NOT_CLOSED') return `${wholeLines + 1}: a quote that opens here or later is never closed`;
  const line = firstLine((record ?? []) as string[], Number(lines));
  return `${line}: expected ${name}: ${message.replace(/ (?:on|at) line \d+/, '')}`;
}

/** The parser tells the line where a record ends; line breaks in its cells lead back to where it began. */
function firstLine(cells: Cells | readonly string[], lastLine: number): number {
  return Object.values(cells).reduce((line, cell) => line - breaksIn(cell), lastLine);
}

function breaksIn(cell: string): number {
  let count = 0;
  for (let at = cell.indexOf('\n'); at !== -1; at = cell.indexOf('\n', at + 1)) count++;
  return count;
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
