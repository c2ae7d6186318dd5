import { readFile } from 'node:fs/promises';
import { diffArrays } from 'diff';
import { z } from 'zod';
import { redactSecrets } from '../core/guard/index.ts';
import { digestOf } from '../skills/index.ts';
import { orIfMissing } from '../stores/index.ts';

/** How the words of a file after an install become those of before: so many that stay or go, and those that come back. */
const Change = z.union([
  z.strictObject({ keep: z.number() }),
  z.strictObject({ drop: z.number() }),
  z.strictObject({ add: z.array(z.string()) }),
]);

/**
 * A settings file of an agent, around an install. Not a copy: it may hold keys. What is kept is the way back. It is counted in
 * words, since agents indent a file in their own way: most of what comes back is white space.
 */
export const SettingsFile = z.strictObject({
  path: z.string(),
  /** Digests; null where there was no file. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  back: z.array(Change),
  /** The words of before, while an install has not ended: white space and brackets as they are, digests of the others. */
  form: z.array(z.string()).optional(),
});
export type SettingsFile = z.infer<typeof SettingsFile>;

export type Snapshot = ReadonlyMap<string, Buffer | null>;

export async function readAll(paths: readonly string[]): Promise<Snapshot> {
  const entries = paths.map(async (path) => [path, await orIfMissing(readFile(path), null)] as const);
  return new Map(await Promise.all(entries));
}

/** The files that differ, with the way back. */
export function changesBetween(before: Snapshot, after: Snapshot): SettingsFile[] {
  return [...before].flatMap(([path, old]) => {
    const now = after.get(path) ?? null;
    if (digestOrNull(old) === digestOrNull(now)) return [];
    const back = old === null || now === null ? [] : wayBack(wordsOf(now), wordsOf(old));
    return [{ path, before: digestOrNull(old), after: digestOrNull(now), back }];
  });
}

/** All of them, those that do not differ too: what an install does to them before it is cut off is not known. */
export function changesSoFar(before: Snapshot, now: Snapshot): SettingsFile[] {
  const changed = changesBetween(before, now);
  const same = [...before].filter(([path]) => !changed.some((file) => file.path === path));
  const files = [
    ...changed,
    ...same.map(([path, old]) => ({ path, before: digestOrNull(old), after: digestOrNull(old), back: [] })),
  ];
  return files.map((file) => {
    const old = before.get(file.path);
    return old ? { ...file, form: formOf(old) } : file;
  });
}

export const digestOrNull = (bytes: Buffer | null): string | null => (bytes === null ? null : digestOf(bytes));

/** Bytes as characters, since a file need not be text: white space, and what is between. */
const wordsOf = (bytes: Buffer) => bytes.toString('latin1').split(/(\s+|[{}[\],:=])/);

/** Longer ways are not looked for: most of the file is new then. */
const LONGEST_WAY = { maxEditLength: 10_000, timeout: 5_000 };

/** Empty if there is none, or if it would keep something that looks like a key. */
function wayBack(now: string[], old: string[]): SettingsFile['back'] {
  const parts = diffArrays(now, old, LONGEST_WAY) ?? [];
  const added = parts.flatMap((part) => (part.added ? part.value : [])).join('');
  if (redactSecrets(added) !== added) return [];
  return parts.map(({ added, removed, value }) => {
    if (added) return { add: value };
    return removed ? { drop: value.length } : { keep: value.length };
  });
}

/** The bytes of before, from those of after. Undefined if the way does not lead there. */
export function bytesBefore({ before, back }: SettingsFile, after: Buffer): Buffer | null | undefined {
  if (before === null) return null;
  const words = wordsOf(after);
  let at = 0;
  const old = back.flatMap((change) => {
    if ('add' in change) return change.add;
    const length = 'keep' in change ? change.keep : change.drop;
    at += length;
    return 'keep' in change ? words.slice(at - length, at) : [];
  });
  const bytes = Buffer.from(old.join(''), 'latin1');
  return digestOf(bytes) === before ? bytes : undefined;
}

/** Every second one is white space or a bracket. */
const formOf = (bytes: Buffer): string[] =>
  wordsOf(bytes).map((word, at) => (at % 2 === 1 || word === '' ? word : wordDigest(word)));

const wordDigest = (word: string) => digestOf(Buffer.from(word, 'latin1')).slice(0, 16);

/** The bytes of before, with words that stand in the file now. Undefined if one of them is gone. */
export function bytesByForm({ before, form = [] }: SettingsFile, now: Buffer): Buffer | undefined {
  const words = new Map(wordsOf(now).map((word) => [wordDigest(word), word]));
  const old = form.map((part, at) => (at % 2 === 1 || part === '' ? part : words.get(part)));
  const bytes = Buffer.from(old.join(''), 'latin1');
  return digestOf(bytes) === before ? bytes : undefined;
}

/** What agents write when they give a plugin back. */
const OF_AGENTS = /^(?:true|false|null|[{}[\],:=]|"(?:enabledPlugins|extraKnownMarketplaces|skillopt@skillopt)")$/;

/** Whether a file holds a word that none of the others has: then somebody else wrote it too. */
export function hasNews(now: Buffer, others: readonly (Buffer | null)[]): boolean {
  const known = new Set(others.flatMap((bytes) => (bytes === null ? [] : wordsOf(bytes))));
  return wordsOf(now).some((word) => !known.has(word) && /\S/.test(word) && !OF_AGENTS.test(word));
}
