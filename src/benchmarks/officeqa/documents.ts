import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { posix, relative, resolve, sep } from 'node:path';
import { groupBy, memoizeWeakly } from '../../core/text/index.ts';
import type { DataFiles } from '../data/data-files.ts';
import type { OfficeQaDocument } from './item.ts';

/**
 * The parsed bulletins that an item names, wherever they lie below the folders of the data. The folder of the project comes last:
 * it may also hold copies that runs have made.
 */
export async function findDocuments(sourceFiles: readonly string[], files: DataFiles): Promise<OfficeQaDocument[]> {
  const bases = baseNames(sourceFiles);
  if (bases.length === 0) throw new Error('source_files names no bulletin');
  const folders = await foldersOf(files);
  const found: string[] = [];
  const missing: string[] = [];
  for (const base of bases) {
    const places = folders.map((folder) => folder.get(base) ?? []);
    const named = places.slice(0, -1).flat();
    const paths = named.length > 0 ? named : (places.at(-1) ?? []);
    if (paths.length === 0) missing.push(base);
    found.push(...paths);
  }
  if (missing.length > 0) throw new Error(`no file called ${missing.join(', ')} is below ${files.places()}`);
  const real = new Set(await Promise.all(found.map((path) => files.pathOf(path))));
  return Promise.all([...real].map(async (path) => withHash(await nameOf(path, files), files)));
}

export const withHash = async (name: string, files: DataFiles): Promise<OfficeQaDocument> => ({
  name,
  sha256: await files.sha256(name),
});

/** Bulletins without their folders. A scan, and its parse into JSON, count as the text. SkillOpt reads `a.txt,b.txt` as one name; we read two. */
export function baseNames(sourceFiles: readonly string[]): string[] {
  const names = sourceFiles.flatMap((name) => name.split(','));
  const bases = names.map((name) => posix.basename(name.trim().replaceAll('\\', '/')));
  return [...new Set(bases.filter(Boolean).map((base) => base.replace(/\.(?:pdf|json)$/i, '.txt')))];
}

/** The files of each folder by their base names. Read once for all items. */
const foldersOf = memoizeWeakly(async (files: DataFiles) => {
  const folders: Map<string, string[]>[] = [];
  for (const root of files.roots) {
    const groups = groupBy(await files.namesIn(root), (name) => posix.basename(name));
    folders.push(new Map(groups.map((names) => [posix.basename(names[0]!), names.map((name) => resolve(root, name))])));
  }
  return folders;
});

/** The shortest name that leads to this file: the same on every machine that has the data in the same folders. */
async function nameOf(path: string, files: DataFiles): Promise<string> {
  const names: string[] = [];
  for (const root of files.roots) {
    const name = relative(await realpath(root).catch(() => root), path);
    const leadsHere = !name.startsWith('..') && (await files.pathOf(name).catch(() => undefined)) === path;
    if (leadsHere) names.push(name.split(sep).join('/'));
  }
  return names.sort((one, other) => one.length - other.length)[0] ?? path;
}

/** The text of a document. Throws if the file is not the one that the item was made of: its score would be another item's. */
export async function readDocument({ name, sha256 }: OfficeQaDocument, files: DataFiles): Promise<string> {
  const bytes = await files.bytes(name);
  if (createHash('sha256').update(bytes).digest('hex') === sha256) return bytes.toString('utf8');
  throw new Error(`the document ${name} has changed since the tasks were read`);
}
