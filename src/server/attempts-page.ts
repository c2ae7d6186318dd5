import { stat } from 'node:fs/promises';
import type { AttemptPage, AttemptRow, AttemptsPage, RunView } from '../core/page/index.ts';
import { type AttemptFile, listAttemptFiles, readAttempt, readAttemptIndex } from '../stores/index.ts';
import { Refusal } from './failure.ts';
import { pathWithin } from './run-files.ts';

type Query = {
  readonly task?: string | undefined;
  readonly version?: number | undefined;
  /** A text to look for, in any case. */
  readonly text?: string | undefined;
  /** How many attempts earlier answers have looked at. */
  readonly cursor: number;
};

const MOST_ROWS = 200;
/** A search answers within about this time, with a cursor after which it continues. */
const SEARCH_MS = 250;

/** Attempts of a run by task, version or text, in the order of the run. */
export async function attemptsPage(path: string, view: RunView, query: Query): Promise<AttemptsPage> {
  const all = await findAttempts(path, view, query);
  const wanted = query.text?.toLowerCase();
  const until = Date.now() + SEARCH_MS;
  const rows: AttemptRow[] = [];
  let at = query.cursor;
  for (; at < all.length && rows.length < MOST_ROWS && Date.now() < until; at += 1) {
    const { row, real, place } = all[at]!;
    if (wanted === undefined || holds(await readAttempt(real, place), wanted)) rows.push(row);
  }
  return { rows, next: at < all.length ? String(at) : null, searched: Math.min(at, all.length), total: all.length };
}

/** Every attempt that the run has files of. */
export const allAttempts = async (path: string, view: RunView): Promise<AttemptRow[]> =>
  (await findAttempts(path, view, {})).map(({ row }) => row);

type Place = Awaited<ReturnType<typeof readAttemptIndex>>[number];
type Found = { readonly row: AttemptRow; readonly real: string; readonly place: Place };

async function findAttempts(path: string, view: RunView, { task, version }: Omit<Query, 'cursor'>): Promise<Found[]> {
  const versions = versionsByFile(view);
  const lists = (await filesOf(path, view))
    .filter(({ file }) => version === undefined || versions.get(file) === version)
    .map(async (file) => {
      const real = await pathWithin(path, `${file.file}.json`);
      const places = await indexOf(real).catch(() => []); // one that is damaged does not hide the others
      const rows = places.map((place, at) => ({ row: rowOf(file, at, place, versions), real, place }));
      return rows.filter(({ row }) => task === undefined || row.task === task);
    });
  return (await Promise.all(lists)).flat();
}

/** Each attempt once: a skill that was tested under two names has two files, and its part has both names. */
async function filesOf(path: string, { attempts }: RunView): Promise<AttemptFile[]> {
  const firsts = new Map(
    attempts.flatMap(({ part, sameAs }) => (sameAs === undefined ? [] : [[part, sameAs] as const])),
  );
  const files = await listAttemptFiles(path);
  return files
    .filter(({ file }) => !firsts.has(file))
    .map((one) => {
      const others = files.filter(({ file }) => firsts.get(file) === one.file);
      return others.length === 0 ? one : { ...one, part: joinedPart([one, ...others].map(({ part }) => part)) };
    });
}

/** `test, best and final skill`. */
function joinedPart(parts: readonly string[]): string {
  const names = parts.map((part) => part.replace(/^test, (.*) skill$/, '$1'));
  return `test, ${names.slice(0, -1).join(', ')} and ${names.at(-1)} skill`;
}

const kept = new Map<string, { readonly stamp: string; readonly index: Promise<Place[]> }>();
const MOST_KEPT = 2_000;

/** Kept: files of earlier versions have no index beside them, and are read whole. */
async function indexOf(path: string): Promise<Place[]> {
  const { size, mtimeMs } = await stat(path);
  const stamp = `${size}:${mtimeMs}`;
  const known = kept.get(path);
  if (known?.stamp === stamp) return known.index;
  if (kept.size >= MOST_KEPT) kept.clear();
  const index = readAttemptIndex(path);
  kept.set(path, { stamp, index });
  return index;
}

function rowOf({ file, part, step }: AttemptFile, place: number, one: Place, versions: VersionsByFile): AttemptRow {
  const { id: task, hard, soft, errored } = one;
  return { task, file, place, part, step: step ?? null, version: versions.get(file) ?? null, hard, soft, errored };
}

type VersionsByFile = ReadonlyMap<string, number>;

/** Files are named after the part of the run that made them. */
const versionsByFile = ({ attempts }: RunView): VersionsByFile =>
  new Map(attempts.map(({ part, version }) => [part, version]));

const holds = (value: unknown, wanted: string): boolean =>
  typeof value === 'string'
    ? value.toLowerCase().includes(wanted)
    : typeof value === 'object' && value !== null && Object.values(value).some((part) => holds(part, wanted));

/** One attempt, by its file as the list names it, and its place there. */
export async function attemptPage(path: string, view: RunView, file: string, place: number): Promise<AttemptPage> {
  const isWanted = (one: AttemptFile) => one.file === file;
  const found = (await filesOf(path, view)).find(isWanted) ?? (await listAttemptFiles(path)).find(isWanted);
  const hint = 'Look for it in the list of attempts.';
  if (!found) throw new Refusal(404, `the run keeps no attempts in ${file}`, hint);
  const real = await pathWithin(path, `${found.file}.json`);
  const one = (await indexOf(real))[place];
  if (!one) throw new Refusal(404, `there is no attempt ${place} in ${file}`, hint);
  return { row: rowOf(found, place, one, versionsByFile(view)), result: await readAttempt(real, one) };
}
