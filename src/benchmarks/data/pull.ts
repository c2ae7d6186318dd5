import { lstat, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { type Sandbox, SkillError } from '../../core/contracts/index.ts';
import { askedKey, isObject, textOf } from '../../core/text/index.ts';
import { SPLIT_NAMES, type Splits, splitItems } from '../../envs/index.ts';
import { checkUniqueIds, loadItems, type Row, TASK_FILE_ENDINGS, tasksInvalid } from '../../imports/index.ts';
import { makeFolder } from '../../stores/index.ts';
import type { Benchmark, BenchmarkItem, RowReader } from '../benchmark.ts';
import { parseSettings } from '../settings.ts';
import { DataFiles } from './data-files.ts';
import { findLeaks, type Leak } from './leaks.ts';
import { hashOf, PULLED, readRows } from './load-items.ts';
import { type ProbeOptions, probeItems, type Unscorable } from './probe-items.ts';

/** How items are divided: as the data or a list of ids says, with what belongs together in one split, or each item by itself. */
export const SPLIT_BY = ['given', 'document', 'item'] as const;

export type PullOptions = ProbeOptions & {
  /** What a person downloaded. Nothing in it is changed. */
  readonly from: string;
  readonly out: string;
  /** A folder with train/, val/ and test/ whose files name the ids of each split, such as those that SkillOpt ships. */
  readonly ids?: string | undefined;
  readonly splitBy?: (typeof SPLIT_BY)[number] | undefined;
  readonly ratio: string;
  readonly seed: number;
  /** Keeps items whose score says nothing. */
  readonly isAsPublished?: boolean | undefined;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly sandbox: Sandbox;
};

export type Pulled = {
  readonly benchmark: string;
  /** Where files lie that items name, from the folder of this file. */
  readonly root: string;
  readonly licence: string;
  readonly rule: string;
  readonly split: { readonly by: (typeof SPLIT_BY)[number]; readonly ratio?: string; readonly seed?: number };
  readonly counts: Readonly<Record<keyof Splits<unknown>, number>>;
  readonly published: Readonly<Record<keyof Splits<unknown>, number>>;
  /** SHA-256 of each file that rows were read from, and of all items. */
  readonly files: Readonly<Record<string, string>>;
  readonly dataSha256: string;
  /** Items that are left out, since their score says nothing. */
  readonly excluded: readonly Unscorable[];
  /** Ids that the list of splits names, and the data lacks. */
  readonly missing: readonly string[];
  /** Items in no split, since the list of splits does not name them. */
  readonly unused: number;
  readonly leaks: readonly Leak[];
};

/**
 * Reads what a person downloaded of a benchmark, checks each item, tries its scoring, and writes train/, val/ and test/ with a record
 * of what was read. Files that items name stay where they are.
 */
export async function pullBenchmark(benchmark: Benchmark, options: PullOptions): Promise<Pulled> {
  const from = resolve(options.from);
  const out = resolve(options.out);
  await requireOurs(out, from);
  await makeFolder(dirname(out));
  const draft = await mkdtemp(join(dirname(out), '.skillopt-pull-')); // a new name: no folder of a person is taken for a draft
  try {
    const settings = parseSettings(benchmark, options.extras);
    const files = new DataFiles([from, draft]);
    const reader: RowReader = { files, keep: (name, bytes) => keepFile(draft, name, bytes) };
    const rows = await (benchmark.findRows ?? findRows)(reader);
    const items = await readRows(benchmark, rows, { reader, settings });
    checkUniqueIds(items);
    const divided = await divide(benchmark, items, options);
    const attempts = benchmark.open({ settings, files, sandbox: options.sandbox });
    const all = SPLIT_NAMES.flatMap((name) => divided.splits[name]);
    const excluded = options.isAsPublished ? [] : await excludedIn(attempts, all, options);
    const splits = without(divided.splits, new Set(excluded.map(({ id }) => id)));
    requireSome(splits, { all, excluded });
    const pulled: Pulled = {
      benchmark: benchmark.name,
      root: relative(out, from) || '.',
      licence: benchmark.source.licence,
      rule: attempts.rule,
      ...{ split: divided.split, counts: countsOf(splits), published: benchmark.published },
      ...{ files: await hashesOf(from), dataSha256: hashOf(splits) },
      ...{ excluded, missing: divided.missing, unused: divided.unused, leaks: findLeaks(benchmark, splits) },
    };
    await write(draft, splits, pulled);
    await rm(out, { recursive: true, force: true });
    await rename(draft, out);
    return pulled;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Nothing is written where nothing is left: a folder that was pulled before stays as it is. */
function requireSome(
  splits: Splits<BenchmarkItem>,
  { all, excluded }: { readonly all: readonly BenchmarkItem[]; readonly excluded: readonly Unscorable[] },
): void {
  if (SPLIT_NAMES.some((name) => splits[name].length > 0)) return;
  const [first] = excluded;
  const problem =
    first === undefined
      ? 'no item was found in the data'
      : `none of ${all.length} items can be scored; the first, ${first.id}: ${first.why}`;
  throw tasksInvalid(
    [problem],
    'Check the folder that is read, the ids, and what the scoring needs. Nothing was written.',
  );
}

/** What we did not write is never written over, and nothing is written into the folder that is read. */
async function requireOurs(out: string, from: string): Promise<void> {
  const hint = 'Choose a new folder, or one that was written by bench pull.';
  if (out === from || out.startsWith(`${from}${sep}`))
    throw new SkillError('USAGE', `${out} lies in the folder that is read, and nothing is written there`, { hint });
  const found = await lstat(out).catch(() => undefined);
  if (found === undefined) return;
  const names = found.isDirectory() ? await readdir(out) : [];
  if (found.isDirectory() && (names.length === 0 || names.includes(PULLED))) return;
  const what = found.isDirectory() ? 'holds other files' : 'is no folder';
  throw new SkillError('USAGE', `${out} ${what}, and would be replaced`, { hint });
}

async function keepFile(folder: string, name: string, bytes: Uint8Array): Promise<string> {
  const path = join('files', basename(name));
  await mkdir(join(folder, 'files'), { recursive: true });
  await writeFile(join(folder, path), bytes);
  return path;
}

/** The rows of all task files in a folder. Those in a folder that is called as a split stand in that split. */
async function findRows({ files }: RowReader): Promise<readonly Row[]> {
  const names = (await files.names()).filter(mayHoldRows);
  if (names.length === 0) {
    const problem = `${files.roots[0]}: expected files ending in ${TASK_FILE_ENDINGS.join(', ')}, got none`;
    throw tasksInvalid([problem], 'Name the folder that holds what you downloaded.');
  }
  const lists = await Promise.all(
    names.map(async (name) => {
      const rows = await loadItems(await files.pathOf(name));
      const split = splitIn(name);
      return split === undefined ? rows : rows.map((row) => ({ ...row, split }));
    }),
  );
  return lists.flat();
}

const mayHoldRows = (name: string) =>
  TASK_FILE_ENDINGS.includes(extname(name).toLowerCase()) && !NO_ROWS.test(basename(name));

/** Files that lie beside data and hold none. */
const NO_ROWS = /^(bench|split_manifest|package(-lock)?|dataset_infos?|skillopt\.config)\.\w+$/;

const splitIn = (name: string) => {
  const folder = basename(dirname(name));
  return ['train', 'val', 'test', 'valid_seen', 'valid_unseen'].includes(folder) ? folder : undefined;
};

type Divided = Pick<Pulled, 'split' | 'missing' | 'unused'> & { readonly splits: Splits<BenchmarkItem> };

async function divide(
  benchmark: Benchmark,
  items: readonly Row<BenchmarkItem>[],
  { ids, splitBy, ratio, seed }: PullOptions,
): Promise<Divided> {
  if (ids !== undefined) return byIds(items, await readIds(ids));
  const areGiven = items.some(({ split }) => split !== undefined);
  const by = splitBy ?? (areGiven ? 'given' : 'document');
  if (by === 'given') return { ...REST, splits: splitItems(items, { seed }), split: { by } };
  const free = items.map(({ split: _, ...row }) => row);
  const drawn = by === 'item' ? free : free.map((row) => ({ ...row, group: groupOf(benchmark, row.value) }));
  return { ...REST, splits: splitItems(drawn, { ratio, seed }), split: { by, ratio, seed } };
}

/** Items that ask the same belong together too. */
const groupOf = (benchmark: Benchmark, item: BenchmarkItem): string[] => [
  `question ${askedKey(benchmark.questionOf(item))}`,
  ...(benchmark.groupsOf?.(item) ?? []),
];

const REST = { missing: [], unused: 0 };

function byIds(items: readonly Row<BenchmarkItem>[], ids: Splits<string>): Divided {
  const known = new Map(items.map(({ value }) => [value.id, value]));
  const named = SPLIT_NAMES.flatMap((name) => ids[name]);
  const find = (name: keyof Splits<string>) => ids[name].flatMap((id) => known.get(id) ?? []);
  const missing = named.filter((id) => !known.has(id));
  if (missing.length === named.length) {
    const problem = `none of the ${named.length} ids of the splits is in the data: ${named.slice(0, 3).join(', ')} …`;
    throw tasksInvalid([problem], `Ids of the data look like this: ${[...known.keys()].slice(0, 3).join(', ')}`);
  }
  const splits = { train: find('train'), val: find('val'), test: find('test') };
  return { splits, missing, unused: known.size - (named.length - missing.length), split: { by: 'given' } };
}

const ID_KEYS = ['id', 'key', 'questionId', 'uid', 'gamefile'];

async function readIds(folder: string): Promise<Splits<string>> {
  const read = async (name: string) => {
    const names = (await readdir(join(folder, name)).catch((): string[] => [])).filter((file) =>
      TASK_FILE_ENDINGS.includes(extname(file)),
    );
    if (names[0] === undefined) return [];
    const rows = await loadItems(join(folder, name, names.sort()[0]!));
    return rows.map(({ value, where }) => {
      if (!isObject(value)) return textOf(value);
      const key = ID_KEYS.find((candidate) => value[candidate] != null);
      if (key === undefined)
        throw tasksInvalid([`${where}: expected one of ${ID_KEYS.join(', ')}`], 'Name a folder whose files list ids.');
      return textOf(value[key]);
    });
  };
  const [train, val, test] = await Promise.all(SPLIT_NAMES.map(read));
  if (train!.length + val!.length + test!.length > 0) return { train: train!, val: val!, test: test! };
  throw tasksInvalid(
    [`${folder}: expected the folders train, val and test with lists of ids, got none`],
    'Check the folder of ids.',
  );
}

async function excludedIn(
  attempts: Parameters<typeof probeItems>[0],
  items: readonly BenchmarkItem[],
  options: ProbeOptions,
) {
  try {
    const { unscorable, givenAway } = await probeItems(attempts, items, options);
    return [...unscorable, ...givenAway];
  } finally {
    await attempts.close?.();
  }
}

function without(splits: Splits<BenchmarkItem>, ids: ReadonlySet<string>): Splits<BenchmarkItem> {
  const kept = (name: keyof Splits<unknown>) => splits[name].filter(({ id }) => !ids.has(id));
  return { train: kept('train'), val: kept('val'), test: kept('test') };
}

const countsOf = ({ train, val, test }: Splits<unknown>) => ({
  train: train.length,
  val: val.length,
  test: test.length,
});

/** Of files that may hold rows. What items name besides is in the items, by its hash. */
async function hashesOf(from: string): Promise<Record<string, string>> {
  const files = new DataFiles([from]);
  const names = (await files.names()).filter(mayHoldRows).slice(0, MOST_HASHED);
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await files.sha256(name)] as const)));
}

const MOST_HASHED = 1_000;

async function write(folder: string, splits: Splits<BenchmarkItem>, pulled: Pulled): Promise<void> {
  for (const name of SPLIT_NAMES) {
    if (splits[name].length === 0) continue;
    await mkdir(join(folder, name), { recursive: true });
    const lines = splits[name].map((item) => `${JSON.stringify(item)}\n`);
    await writeFile(join(folder, name, 'items.jsonl'), lines.join(''));
  }
  await writeFile(join(folder, PULLED), `${JSON.stringify(pulled, null, 2)}\n`);
}
