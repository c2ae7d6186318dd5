import { open, readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { whyTooMuch } from '../core/contracts/index.ts';
import { strip } from '../core/text/index.ts';
import { decodeText } from './decode.ts';
import { encodingOf, type LeftOut } from './left-out.ts';
import { readCsv, readJson, readJsonl, readParquet, readParquetHead, readTsv, readYaml } from './readers.ts';
import { type Row, tasksInvalid, unreadable } from './rows.ts';

type Reader = (text: string, path: string) => Row[];

const READERS = new Map<string, Reader>([
  ['.jsonl', readJsonl],
  ['.ndjson', readJsonl],
  ['.json', readJson],
  ['.csv', readCsv],
  ['.tsv', readTsv],
  ['.yaml', readYaml],
  ['.yml', readYaml],
]);
/** Every later walk through a task can take this much. */
const TASK_LIMITS = { maxDepth: 500, maxValues: 10_000_000 };

/** How the name of a task file may end. */
export const TASK_FILE_ENDINGS: readonly string[] = [...READERS.keys(), '.parquet'];

/**
 * The tasks in a file, in its order, each with the line where it begins. The name's ending says how to read it: a
 * JSON value per line (`.jsonl`), a list, an object with a list under `data` or `items` or with tasks by name, or a single
 * task with its id (`.json`, `.yaml`, `.yml`), rows under a header (`.csv`, `.tsv`, where `answers` is a JSON list or separated by `|`), or columns (`.parquet`). Throws `TASKS_INVALID` for a
 * file that cannot be read or holds no task. What is inside a task is not looked at. What people should know is added to `told`.
 */
export async function loadItems(path: string, told: LeftOut[] = []): Promise<Row[]> {
  const rows =
    extname(path).toLowerCase() === '.parquet' ? await readParquet(path) : rowsOf(await readText(path, told), path);
  if (rows.length === 0) throw tasksInvalid([`${path} holds no tasks`], 'Write at least one task into it.');
  const tooMuch = rows.flatMap(({ value, where }) => {
    const problem = whyTooMuch(value, TASK_LIMITS);
    return problem === undefined ? [] : [`${where}: expected a task, got ${problem}`];
  });
  if (tooMuch.length > 0) throw tasksInvalid(tooMuch, 'Keep what nests so deeply in a file of its own.');
  return rows;
}

/** The rows of a text that is a task file, or the head of one. */
function rowsOf(text: string, path: string): Row[] {
  const read = READERS.get(extname(path).toLowerCase());
  if (!read) {
    throw tasksInvalid(
      [`${path}: expected a file ending in ${TASK_FILE_ENDINGS.join(', ')}, got "${extname(path)}"`],
      'Name the file after its format, for example tasks.jsonl.',
    );
  }
  return strip(text) === '' ? [] : (namedWrongly(text, read) ?? read)(text, path);
}

/** JSON lines in a `.json` file, or a list in a `.jsonl` file: what is in it is plain to see. */
function namedWrongly(text: string, read: Reader): Reader | undefined {
  if (read === readJsonl) return strip(text).startsWith('[') ? readJson : undefined;
  if (read !== readJson) return undefined;
  const lines = text.split('\n').map(strip).filter(Boolean);
  const isLines = lines.length > 1 && lines.every((line) => line.startsWith('{') && line.endsWith('}'));
  return isLines ? readJsonl : undefined;
}

/** The text of a task file. Says which encoding it has. */
export async function readText(path: string, told: LeftOut[] = []): Promise<string> {
  const bytes = await readFile(path).catch((error) => Promise.reject(unreadable(path, error)));
  return textIn(bytes, path, told);
}

function textIn(bytes: Uint8Array, path: string, told: LeftOut[] = []): string {
  const read = decodeText(bytes);
  if ('problem' in read) throw tasksInvalid([`${path}: ${read.problem}`], 'Save it as text in UTF-8.');
  told.push(...encodingOf(read.encoding, path));
  return read.text;
}

/** What is seen of a file: enough to know what it is. */
export type Peeked = {
  readonly rows: readonly Row[];
  /** How many the file has, where that is known, and how many it has at least. */
  readonly total?: number;
  readonly atLeast: number;
};

const HEAD_BYTES = 256_000;
/** A list in JSON or YAML has no end before its end: it is read whole, or not at all. */
const MAX_TREE_BYTES = 4_000_000;
const MAX_ROWS = 200;
/** A quote may hold line breaks: where a head is cut inside one, the cut moves up. */
const MOST_CUTS = 20;

/** The first rows of a task file. Throws `TASKS_INVALID` for a file that is none, or that is too large to read as a whole. */
export async function peekRows(path: string): Promise<Peeked> {
  const ending = extname(path).toLowerCase();
  if (ending === '.parquet') {
    const { rows, total } = await readParquetHead(path, MAX_ROWS);
    return { rows, total, atLeast: total };
  }
  await requireSmallTree(path);
  const { size } = await stat(path);
  const bytes = await readHead(path, isTree(path) ? MAX_TREE_BYTES : HEAD_BYTES);
  const isWhole = bytes.length >= size;
  // A line break is the last byte of its character in all encodings but one, where a NUL follows.
  const text = textIn(isWhole ? bytes : bytes.subarray(0, bytes.lastIndexOf(10) + (bytes.includes(0) ? 2 : 1)), path);
  const rows = isWhole ? rowsOf(text, path) : rowsOfHead(text, path);
  return { rows: rows.slice(0, MAX_ROWS), atLeast: rows.length, ...(isWhole ? { total: rows.length } : {}) };
}

export const isTree = (path: string) => ['.json', '.yaml', '.yml'].includes(extname(path).toLowerCase());

/** Throws for a list in JSON or YAML that is too large to look at. */
export async function requireSmallTree(path: string): Promise<void> {
  const { size } = await stat(path);
  if (!isTree(path) || size <= MAX_TREE_BYTES) return;
  const problem = `${path}: ${megabytes(size)} of ${extname(path)} are not looked at, ${megabytes(MAX_TREE_BYTES)} at most`;
  throw tasksInvalid([problem], 'Write it as .jsonl, with a task on each line.');
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

export async function readHead(path: string, maxBytes: number): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
  return buffer.subarray(0, bytesRead);
}

/** Whole lines; fewer of them until they can be read. */
function rowsOfHead(text: string, path: string, cuts = MOST_CUTS): Row[] {
  const head = text.slice(0, Math.max(0, text.lastIndexOf('\n')));
  try {
    return rowsOf(head, path);
  } catch (error) {
    if (cuts === 0 || head === '') throw error;
    return rowsOfHead(head, path, cuts - 1);
  }
}
