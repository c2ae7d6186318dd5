import { readFile } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse/sync';
import type { AsyncBuffer, FileMetaData } from 'hyparquet';
import { type Document, isMap, isSeq, LineCounter, type Node, Parser, parseDocument, type YAMLSeq } from 'yaml';
import { whyTooMuch } from '../core/contracts/index.ts';
import { parseJson, strip } from '../core/text/index.ts';
import {
  elementLines,
  entryLines,
  isTask,
  isTasksByName,
  LIST_KEYS,
  notAList,
  type Row,
  tasksInvalid,
  unreadable,
} from './rows.ts';

type Cells = { readonly [column: string]: string };

const CSV_HINT = 'The first line names the columns; a cell with a separator or a line break stands in double quotes.';

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
    throw tasksInvalid([`${path}:${describe(error, wholeLines, name)}`], CSV_HINT, error);
  }
}

function withList(record: Cells): unknown {
  const column = Object.keys(record).find((name) => name.toLowerCase() === 'answers');
  const value = column === undefined ? record : { ...record, [column]: toList(record[column]!) };
  cells.set(value, record);
  return value;
}

const cells = new WeakMap<object, Cells>();

/** The cells of a row of CSV or TSV as they stand in the file, for the value that the row was read as. */
export const cellsOf = (value: unknown): Cells | undefined => cells.get(value as object);

function describe({ code, message, lines, record }: CsvError, wholeLines: number, name: string): string {
  // The parser only knows that the file ended inside the quotes.
  if (code === 'CSV_QUOTE_NOT_CLOSED') return `${wholeLines + 1}: a quote that opens here or later is never closed`;
  const line = firstLine((record ?? []) as string[], Number(lines));
  return `${line}: expected ${name}: ${message.replace(/ (?:on|at) line \d+/, '')}`;
}

/** The parser gives the line where a record ends; line breaks in its cells lead back to where it began. */
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
  return cell.startsWith('[') ? (parseJson(cell) ?? cell) : cell.split('|').map(strip);
}

/** A list of tasks, an object with such a list under one of `LIST_KEYS` or with tasks by name, or a single task. */
export function readJson(text: string, path: string): Row[] {
  const root = parseFile(text, path);
  const key = Array.isArray(root) ? undefined : LIST_KEYS.find((name) => Array.isArray(entryOf(root, name)));
  const list = key === undefined ? root : entryOf(root, key);
  if (isTask(list)) return [{ value: root, where: `${path}:1` }];
  if (isTasksByName(root)) {
    const named = [...entryLines(text)];
    return named.map(([name, line]) => ({ value: { id: name, ...root[name]! }, where: `${path}:${line}` }));
  }
  if (!Array.isArray(list)) throw notAList(root, path);
  const lines = elementLines(text, key);
  return list.map((value, index) => ({ value, where: `${path}:${lines[index]}` }));
}

const entryOf = (root: unknown, key: string): unknown => (root as Record<string, unknown> | null)?.[key];

function parseFile(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = (error as Error).message.replace(/\s+/g, ' ');
    const problem = `${path}${lineSuffix(text, message)}: expected JSON: ${message}`;
    throw tasksInvalid([problem], 'One object per line, without a list around them, belongs in a .jsonl file.', error);
  }
}

/** The engine gives an offset for most errors, but not for all. */
function lineSuffix(text: string, message: string): string {
  const offset = /at position (\d+)/.exec(message)?.[1];
  return offset === undefined ? '' : `:${text.slice(0, Number(offset)).split('\n').length}`;
}

/** One JSON value per line. Empty lines are skipped, and counted. */
export function readJsonl(text: string, path: string): Row[] {
  return text.split('\n').flatMap((line, index) => {
    const where = `${path}:${index + 1}`;
    return strip(line) === '' ? [] : [{ value: parseLine(line, where), where }];
  });
}

function parseLine(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    const problem = `${where}: expected one JSON object on the line: ${(error as Error).message}`;
    const hint = 'A task takes exactly one line; a list over several lines belongs in a .json file.';
    throw tasksInvalid([problem], hint, error);
  }
}

const YAML_HINT = 'A task file is a YAML list: each task begins with "- ".';

/** A list of tasks, a mapping with such a list under one of `LIST_KEYS` or with tasks by name, or a single task. */
export function readYaml(text: string, path: string): Row[] {
  requireShallow(text, path);
  const lineCounter = new LineCounter();
  // The library is silent: without the level, the parser would print its warnings itself.
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error' });
  const placeOf = (offset: number) => `${path}:${lineCounter.linePos(offset).line}`;
  const [error] = document.errors;
  if (error) throw tasksInvalid([`${placeOf(error.pos[0])}: expected YAML: ${error.message}`], YAML_HINT, error);
  if (document.contents === null) return [];
  const list = findList(document.contents);
  if (!list && isMap<Node, Node>(document.contents) && isNamed(document, path)) {
    return document.contents.items.map(({ key, value }) => {
      const row = toRow(value!, document, placeOf(key.range![0]));
      return { ...row, value: { id: String(key.toJS(document)), ...(row.value as object) } };
    });
  }
  const nodes = list ? list.items : [requireTask(document, path)];
  return nodes.map((node) => toRow(node, document, placeOf(node.range![0])));
}

function isNamed(document: Document, path: string): boolean {
  const { value: root } = toRow(document.contents as Node, document, `${path}:1`);
  return !isTask(root) && isTasksByName(root);
}

/** Tasks are built by recursion, which on a deep text can abort the process. Tokens are not; three make a level. */
export function requireShallow(text: string, path: string): void {
  for (const token of new Parser().parse(text)) {
    const isTooDeep = whyTooMuch(token, { maxDepth: 1500, maxValues: Number.POSITIVE_INFINITY }) !== undefined;
    if (isTooDeep)
      throw tasksInvalid([`${path}: expected tasks, got YAML nested more than 500 levels deep`], YAML_HINT);
  }
}

function requireTask(document: Document, path: string): Node {
  const { value } = toRow(document.contents as Node, document, path);
  if (isTask(value)) return document.contents as Node;
  throw notAList(value, path);
}

function findList(contents: unknown): YAMLSeq<Node> | undefined {
  if (isSeq<Node>(contents)) return contents;
  if (!isMap(contents)) return undefined;
  return LIST_KEYS.map((key) => contents.get(key)).find((entry) => isSeq<Node>(entry));
}

function toRow(node: Node, document: Document, where: string): Row {
  try {
    return { value: node.toJS(document), where };
  } catch (error) {
    // An alias without its anchor, or aliases that multiply beyond reason.
    throw tasksInvalid([`${where}: expected YAML: ${(error as Error).message}`], YAML_HINT, error);
  }
}

/** Unpacked, a file may be a thousand times as large as on disk. */
const MAX_BYTES = 1_000_000_000;
const PARQUET_HINT = 'Write it again with any Parquet library, or as .jsonl.';

/** The rows of a Parquet file, packed in any usual way. They have no lines: a row is named by its number, from 1. */
export async function readParquet(path: string): Promise<Row[]> {
  const bytes = await readFile(path).catch((error) => Promise.reject(unreadable(path, error)));
  return (await readFrom(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), path)).rows;
}

/** The first rows of a Parquet file, and how many it has. Little else of it is read. */
export async function readParquetHead(path: string, rowEnd: number): Promise<{ rows: Row[]; total: number }> {
  const { asyncBufferFromFile } = await import('hyparquet');
  return readFrom(await asyncBufferFromFile(path), path, rowEnd);
}

async function readFrom(file: ArrayBuffer | AsyncBuffer, path: string, rowEnd?: number) {
  // Loaded here, since most task files are texts.
  const [{ parquetMetadataAsync, parquetReadObjects }, { compressors }] = await Promise.all([
    import('hyparquet'),
    import('hyparquet-compressors'),
  ]);
  try {
    const metadata = await parquetMetadataAsync(file as AsyncBuffer);
    if (rowEnd === undefined) requireSize(metadata);
    const range = rowEnd === undefined ? {} : { rowEnd };
    const values = await parquetReadObjects({ file, metadata, compressors, ...range });
    const rows = values.map((value, index): Row => ({ value: plain(value), where: `${path}: row ${index + 1}` }));
    return { rows, total: Number(metadata.num_rows) };
  } catch (error) {
    throw tasksInvalid([`${path}: expected Parquet: ${(error as Error).message}`], PARQUET_HINT, error);
  }
}

function requireSize({ row_groups: groups }: FileMetaData): void {
  const size = groups.reduce((sum, group) => sum + Number(group.total_byte_size), 0);
  if (size > MAX_BYTES) throw new Error(`it holds ${size} bytes, and at most ${MAX_BYTES} are read`);
}

/** As JSON would have it: whole numbers of 64 bits become numbers where they fit and text where not, dates become text. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(value as ArrayLike<unknown>, plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
