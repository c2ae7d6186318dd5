import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { whyTooMuch } from '../../core/contracts/index.ts';
import { strip } from '../../core/text/index.ts';
import { readCsv, readTsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import { readJsonl } from './read-jsonl.ts';
import { readParquet } from './read-parquet.ts';
import { readYaml } from './read-yaml.ts';
import type { Row } from './row.ts';
import { tasksInvalid, unreadable } from './tasks-invalid.ts';

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
/** What every later walk through a task can bear. */
const TASK_LIMITS = { maxDepth: 500, maxValues: 10_000_000 };

/** How the name of a task file may end. */
export const TASK_FILE_ENDINGS: readonly string[] = [...READERS.keys(), '.parquet'];

/**
 * The tasks in a file, in its order, each with the line where it begins. The name's ending says how to read it: a
 * JSON value per line (`.jsonl`), a list, an object with a list under `data` or `items` or with tasks by name, or a single
 * task with its id (`.json`, `.yaml`, `.yml`), rows under a header (`.csv`, `.tsv`, where `answers` is a JSON list or separated by `|`), or columns (`.parquet`). Throws `TASKS_INVALID` for a
 * file that cannot be read or holds no task. What is inside a task is not looked at.
 */
export async function loadItems(path: string): Promise<Row[]> {
  const rows =
    extname(path).toLowerCase() === '.parquet' ? await readParquet(path) : rowsOf(await readText(path), path);
  if (rows.length === 0) throw tasksInvalid([`${path} holds no tasks`], 'Write at least one task into it.');
  const tooMuch = rows.flatMap(({ value, where }) => {
    const problem = whyTooMuch(value, TASK_LIMITS);
    return problem === undefined ? [] : [`${where}: expected a task, got ${problem}`];
  });
  if (tooMuch.length > 0) throw tasksInvalid(tooMuch, 'Keep what nests so deeply in a file of its own.');
  return rows;
}

/** The rows of a text that is a task file, or the head of one. */
export function rowsOf(text: string, path: string): Row[] {
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
  if (read !== readJson && read !== readJsonl) return undefined;
  const lines = text
    .split('\n')
    .map(strip)
    .filter((line) => line !== '');
  const isLines = lines.length > 1 && lines.every((line) => line.startsWith('{') && line.endsWith('}'));
  if (read === readJson && isLines) return readJsonl;
  return read === readJsonl && lines[0]!.startsWith('[') ? readJson : undefined;
}

async function readText(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error) => Promise.reject(unreadable(path, error)));
  return text.replace(/^\uFEFF/, '');
}
