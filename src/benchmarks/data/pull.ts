import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Sandbox, SkillError } from '../../core/contracts/index.ts';
import { isObject, parseJson } from '../../core/text/index.ts';
import { SPLIT_NAMES, type Splits } from '../../envs/index.ts';
import { checkUniqueIds, tasksInvalid } from '../../imports/index.ts';
import { makeFolder } from '../../stores/index.ts';
import type { Benchmark, BenchmarkItem, RowReader } from '../benchmark.ts';
import { missingFolders, misspelt, parseCommon, parseSettings } from '../settings.ts';
import { DataFiles, DRAFT, isInside, sha256Of } from './data-files.ts';
import { type Divided, type DivideOptions, divide } from './divide.ts';
import { findRows, mayHoldRows } from './find-rows.ts';
import { findLeaks, type Leak } from './leaks.ts';
import { allOf, hashOf, PULLED, readRows } from './load-items.ts';
import { type ProbeOptions, probeItems, type Unscorable } from './probe-items.ts';

export type PullOptions = ProbeOptions &
  DivideOptions & {
    /** What a person downloaded. Nothing in it is changed. */
    readonly from: string;
    readonly out: string;
    /** The folder that names of folders in settings start at. */
    readonly directory: string;
    /** Keeps items whose score says nothing. */
    readonly isAsPublished?: boolean | undefined;
    readonly extras: Readonly<Record<string, unknown>>;
    readonly sandbox: Sandbox;
  };

/** Holds what stood inside rows, such as images. */
const KEPT = 'files';

export type Pulled = {
  readonly benchmark: string;
  /** Where files lie that items name, from the folder of this file. */
  readonly root: string;
  readonly licence: string;
  readonly rule: string;
  readonly split: Divided['split'];
  readonly counts: Readonly<Record<keyof Splits<unknown>, number>>;
  readonly published: Readonly<Record<keyof Splits<unknown>, number>>;
  /** SHA-256 of each file that rows were read from, and of all items. */
  readonly files: Readonly<Record<string, string>>;
  readonly dataSha256: string;
  /** The same of the files in this folder: one that is another, or new, is a person's. */
  readonly written: Readonly<Record<string, string | undefined>>;
  /** Items that are left out, since their score says nothing. */
  readonly excluded: readonly Unscorable[];
  /** Ids that the list of splits names, and the data lacks. */
  readonly missing: readonly string[];
  /** Items in no split, since the list of splits does not name them. */
  readonly unused: number;
  readonly leaks: readonly Leak[];
  /** What a person should know: settings without effect, folders that are missing. */
  readonly warnings: readonly string[];
  /** Links in the data, which are not followed. */
  readonly links: readonly string[];
};

/**
 * Reads what a person downloaded of a benchmark, checks each item, tries its scoring, and writes train/, val/ and test/ with a record
 * of what was read. Files that items name stay where they are.
 */
export async function pullBenchmark(benchmark: Benchmark, options: PullOptions): Promise<Pulled> {
  const from = await realpath(options.from);
  const out = await realPlace(resolve(options.out));
  await requireOurs(benchmark, out, from);
  await makeFolder(dirname(out));
  const draft = await mkdtemp(join(dirname(out), DRAFT)); // a new name: no folder of a person is taken for a draft
  try {
    const { extras, directory, signal } = options;
    const settings = parseSettings(benchmark, extras);
    const { named, leaveOutFlawed } = parseCommon(benchmark, extras);
    const folders = named.map((path) => resolve(directory, path));
    const files = new DataFiles([from, ...folders, draft]);
    const reader: RowReader = { files, keep: (name, bytes) => keepFile(draft, name, bytes) };
    const rows = await (benchmark.findRows ?? findRows)(reader);
    const items = await readRows(benchmark, rows, { reader, settings });
    checkUniqueIds(items);
    const divided = await divide(benchmark, items, options);
    const attempts = benchmark.open({ settings, files, sandbox: options.sandbox });
    const all = allOf(divided.splits);
    const flawed = leaveOutFlawed ? (benchmark.flawsOf?.(all) ?? []) : [];
    const excluded = [
      ...flawed.flatMap(({ what, ids }) => ids.map((id) => ({ id, why: what }))),
      ...(options.isAsPublished ? [] : await excludedIn(attempts, all, options)),
    ];
    const splits = without(divided.splits, new Set(excluded.map(({ id }) => id)));
    requireSome(splits, { all, excluded, hint: benchmark.hint });
    const pulled = {
      benchmark: benchmark.name,
      root: relative(out, from) || '.',
      licence: benchmark.source.licence,
      rule: attempts.rule,
      ...{ split: divided.split, counts: countsOf(splits), published: benchmark.published },
      ...{ files: await rowHashes(from), dataSha256: hashOf(splits) },
      ...{ excluded, missing: divided.missing, unused: divided.unused, leaks: findLeaks(benchmark, splits) },
      warnings: [...misspelt(benchmark, extras), ...missingFolders(folders)],
      links: await files.links(),
    };
    await writeSplits(draft, splits);
    const written = Object.fromEntries(await everyFile(draft));
    await writeFile(join(draft, PULLED), `${JSON.stringify({ ...pulled, written }, null, 2)}\n`);
    await chmod(draft, 0o777 & ~process.umask()); // a draft is private
    signal?.throwIfAborted();
    await requireOurs(benchmark, out, from); // somebody may have written there meanwhile
    await replaceFolder(draft, out);
    return { ...pulled, written };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Nothing is written where nothing is left: a folder that was pulled before stays as it is. */
function requireSome(
  splits: Splits<BenchmarkItem>,
  {
    all,
    excluded,
    hint,
  }: { readonly all: readonly BenchmarkItem[]; readonly excluded: readonly Unscorable[]; readonly hint: string },
): void {
  if (SPLIT_NAMES.some((name) => splits[name].length > 0)) return;
  const [first] = excluded;
  const problem =
    first === undefined
      ? 'no item was found in the data'
      : `none of ${all.length} items can be scored; the first, ${first.id}: ${first.why}`;
  throw tasksInvalid(
    [problem],
    `Check the folder that is read, the ids, and what the scoring needs. ${hint} Nothing was written.`,
  );
}

/** The path with links followed, of what is there and of what is not there yet. */
async function realPlace(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await realPlace(dirname(path)), basename(path));
}

/** What we did not write is never written over, and nothing is written into the folder that is read. */
async function requireOurs({ name }: Benchmark, out: string, from: string): Promise<void> {
  const hint = 'Choose a new folder, or one that holds nothing but what bench pull has written.';
  const refuse = (what: string) => new SkillError('USAGE', `${out} ${what}`, { hint });
  if (isInside(out, from)) throw refuse('lies in the folder that is read, and nothing is written there');
  if (isInside(from, out)) throw refuse('holds the folder that is read, and would be replaced');
  const found = await lstat(out).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isDirectory()) throw refuse('is no folder, and would be replaced');
  if ((await readdir(out)).length === 0) return;
  const record = parseJson(await readFile(join(out, PULLED), 'utf8').catch(() => ''));
  if (!isObject(record) || !isObject(record.written) || typeof record.benchmark !== 'string')
    throw refuse('holds other files, and would be replaced');
  if (record.benchmark !== name) throw refuse(`holds the data of ${record.benchmark}, and would be replaced`);
  const { written } = record;
  for (const [path, sha256] of await everyFile(out))
    if (path !== PULLED && written[path] !== sha256)
      throw refuse(`holds ${path}, which bench pull did not write or which was changed since, and would be replaced`);
}

/** Each file by its path, with its SHA-256; a link or a socket has none. */
async function everyFile(folder: string): Promise<Map<string, string | undefined>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = new Map<string, string | undefined>();
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isDirectory()) found.set(relative(folder, path), entry.isFile() ? await sha256Of(path) : undefined);
  }
  return found;
}

/** The old one is deleted last: there is always one of the two. */
async function replaceFolder(draft: string, out: string): Promise<void> {
  const aside = `${draft}.old`;
  const isThere = await rename(out, aside).then(
    () => true,
    () => false,
  );
  await rename(draft, out).catch(async (error) => {
    if (isThere) await rename(aside, out);
    throw error;
  });
  await rm(aside, { recursive: true, force: true });
}

async function keepFile(folder: string, name: string, bytes: Uint8Array): Promise<string> {
  const path = join(KEPT, basename(name));
  await mkdir(join(folder, KEPT), { recursive: true });
  await writeFile(join(folder, path), bytes);
  return path;
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
async function rowHashes(from: string): Promise<Record<string, string>> {
  const files = new DataFiles([from]);
  const names = (await files.names()).filter(mayHoldRows).slice(0, MOST_HASHED);
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await files.sha256(name)] as const)));
}

const MOST_HASHED = 1_000;

async function writeSplits(folder: string, splits: Splits<BenchmarkItem>): Promise<void> {
  for (const name of SPLIT_NAMES) {
    if (splits[name].length === 0) continue;
    await mkdir(join(folder, name), { recursive: true });
    const lines = splits[name].map((item) => `${JSON.stringify(item)}\n`);
    await writeFile(join(folder, name, 'items.jsonl'), lines.join(''));
  }
}
