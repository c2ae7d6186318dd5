import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { isObject, parseJson } from '../../core/text/index.ts';
import { requireSplitName, SplitDataLoader, type SplitLoaderOptions, type Splits } from '../../envs/index.ts';
import { loadItems, parseRows, type Row, tasksInvalid } from '../../imports/index.ts';
import type { Benchmark, BenchmarkItem, RowReader } from '../benchmark.ts';
import { holdsFolder } from './data-files.ts';
import { oneDataFile } from './find-rows.ts';

/** What `bench pull` writes beside the splits. */
export const PULLED = 'bench.json';

type Record = { readonly root?: unknown; readonly dataSha256?: unknown };

/** What was recorded when `folder` was pulled: the folder that paths in items start at, and the hash of all items. */
function recordOf(folder: string): Record | 'none' | 'broken' {
  const path = join(folder, PULLED);
  if (!existsSync(path)) return 'none';
  const record = parseJson(readFileSync(path, 'utf8'));
  return isObject(record) && typeof record.dataSha256 === 'string' ? record : 'broken';
}

/**
 * Data of somebody else may name any folder of this machine. The folder that was read never holds the one that was written, so one that
 * does is refused. Of any other the user is warned.
 */
function pulledRoot(folder: string): string | undefined {
  const record = recordOf(folder);
  if (typeof record === 'string' || typeof record.root !== 'string') return undefined;
  const root = resolve(folder, record.root);
  if (holdsFolder(root, folder) && root !== resolve(folder)) {
    const hint = 'It was not written by bench pull. If you trust it, delete its root, and name the folder as dataRoot.';
    throw tasksInvalid([`${join(folder, PULLED)}: the root ${root} holds the data itself`], hint);
  }
  return root;
}

/** Where items name files in a folder that is neither the data's nor the project's. */
export function rootNotes(data: Place): string[] {
  const folder = folderOf(data);
  const root = folder === undefined ? undefined : pulledRoot(folder);
  if (root === undefined || [folder!, data.directory].some((one) => holdsFolder(one, root))) return [];
  return [`files that items name are read from ${root}, as ${join(folder!, PULLED)} says`];
}

/** Why items are not those that were pulled into `folder`; nothing where they are, or where nothing was pulled. */
export function whyOthers(folder: string | undefined, splits: Splits<BenchmarkItem>): string | undefined {
  const record = folder === undefined ? 'none' : recordOf(folder);
  if (record === 'broken') return `${PULLED} cannot be read, so nothing says that these are the items that were pulled`;
  if (record === 'none' || record.dataSha256 === hashOf(splits)) return undefined;
  return `the items are not those that were pulled (${PULLED} has another SHA-256): a file was changed, or the settings that shape items differ`;
}

type ReadOptions<Settings> = {
  readonly reader: RowReader;
  readonly settings: Settings;
  /** What to do if the rows are ids alone. */
  readonly idsOnly?: string;
};

/** Rows as items: read, completed by what the benchmark knows, and checked. One `TASKS_INVALID` names what is wrong with them. */
export async function readRows<I extends BenchmarkItem, Settings>(
  benchmark: Benchmark<I, Settings>,
  rows: readonly Row[],
  { reader, settings, idsOnly = '' }: ReadOptions<Settings>,
): Promise<Row<I>[]> {
  const read: Row[] = [];
  const problems: string[] = [];
  for (const row of rows) {
    try {
      read.push({ ...row, value: await benchmark.readRow(row, reader, settings) });
    } catch (error) {
      if (error instanceof SkillError) throw error;
      problems.push(`${row.where}: ${(error as Error).message}`);
    }
  }
  const areIds = rows.every(({ value }) => isObject(value) && Object.values(value).filter(isLong).length === 0);
  const hint = areIds ? `${idsOnly} ${benchmark.hint}`.trimStart() : benchmark.hint;
  if (problems.length > 0) throw tasksInvalid(problems, hint);
  return parseRows(read, { schema: benchmark.item, hint }) as Row<I>[];
}

/** The splits that SkillOpt ships hold ids and paths alone. */
const IDS_ONLY = 'If these are ids without questions: skillopt bench pull joins them with the data that you have.';
const isLong = (value: unknown) => (typeof value === 'string' ? value.includes(' ') : isObject(value));

type LoaderOptions<I extends BenchmarkItem, Settings> = SplitLoaderOptions & {
  readonly benchmark: Benchmark<I, Settings>;
  readonly reader: RowReader;
  readonly settings: Settings;
};

/** Items of a benchmark from split folders, or from one file that is split by ratio, what belongs together in one split. */
export class BenchmarkLoader<I extends BenchmarkItem, Settings> extends SplitDataLoader {
  readonly #options: LoaderOptions<I, Settings>;

  constructor(options: LoaderOptions<I, Settings>) {
    const { benchmark, reader, settings, ...where } = options;
    super(where);
    this.#options = options;
  }

  override async loadSplitItems(path: string): Promise<readonly I[]> {
    const { benchmark, ...options } = this.#options;
    const isFolder = existsSync(path) && statSync(path).isDirectory();
    const found = isFolder ? await oneDataFile(path) : path;
    const rows = await loadItems(found);
    return (await readRows(benchmark, rows, { ...options, idsOnly: IDS_ONLY })).map(({ value }) => value);
  }

  /** A split without items has no folder. */
  override getItems(split: string): readonly I[] {
    const { splitDir } = this.#options;
    const isEmpty = splitDir !== undefined && !existsSync(join(splitDir, requireSplitName(split, 'the data')));
    return isEmpty ? [] : (super.getItems(split) as readonly I[]);
  }

  override groupsOf(item: I): readonly string[] {
    return this.#options.benchmark.groupsOf?.(item) ?? [];
  }
}

type Place = {
  readonly splitDir?: string | undefined;
  readonly dataPath?: string | undefined;
  readonly directory: string;
};

const folderOf = ({ splitDir, dataPath }: Place) =>
  splitDir ?? (dataPath === undefined ? undefined : extname(dataPath) === '' ? dataPath : dirname(dataPath));

/** Where data of a project can lie: the pulled root, the folder that is named, and the project's own. */
export function rootsOf(data: Place): string[] {
  const folder = folderOf(data);
  const pulled = folder === undefined ? undefined : pulledRoot(folder);
  return [pulled, folder, data.directory].filter((path) => path !== undefined);
}

export const allOf = <I>({ train, val, test }: Splits<I>): I[] => [...train, ...val, ...test];

/** SHA-256 of all items, as the card of a result shows it. */
export const hashOf = ({ train, val, test }: Splits<BenchmarkItem>): string =>
  createHash('sha256')
    .update(JSON.stringify([train, val, test]))
    .digest('hex');
