import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { cp, lstat, mkdir, open, readdir, readlink, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isPlainPath, SkillError } from '../../core/contracts/index.ts';

/** A folder that files are written into; of a view, its upper folder and the one below it. */
type TargetFolder = { readonly folder: string; readonly lower?: string | undefined };

/**
 * Writes files into a folder that a command has changed. Whatever is in the way is replaced: a link could lead to a file of
 * someone else, and a pipe would never be read. Nothing may run in the folder meanwhile.
 */
export async function layFiles(
  target: TargetFolder,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await requireFolders(target, dirname(path));
    await write(join(target.folder, path), content);
  }
}

async function requireFolders(target: TargetFolder, path: string): Promise<void> {
  if (path === '.') return;
  await requireFolders(target, dirname(path));
  const full = join(target.folder, path);
  const there = await lstat(full).catch(() => undefined);
  if (there?.isDirectory()) return;
  await rm(full, { force: true });
  await mkdir(full);
  if (there && target.lower !== undefined) await hideLower(full, join(target.lower, path));
}

/** A folder that was removed from a view comes back empty: each thing in the lower one is marked as removed, as the kernel does. */
async function hideLower(folder: string, lower: string): Promise<void> {
  const names = await readdir(lower).catch(() => []);
  const marks = names.map((name) => join(folder, name));
  if (marks.length === 0) return;
  const { execa } = await import('execa');
  await execa('/bin/sh', ['-c', 'for mark; do mknod "$mark" c 0 0 || exit 1; done', 'sh', ...marks]);
}

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await rm(path, { recursive: true, force: true });
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants; // Windows has no links to follow
  const mode = namesInterpreter(content) ? 0o755 : 0o644;
  await using file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  await file.writeFile(content);
}

/** Whether a file names its interpreter, and so is meant to be run. */
export const namesInterpreter = (content: string | Uint8Array): boolean =>
  typeof content === 'string' ? content.startsWith('#!') : content[0] === 0x23 && content[1] === 0x21;

/** Throws `TASKS_INVALID` for a path that would lead out of the folder. */
export function requirePlainPath(path: string): void {
  if (isPlainPath(path)) return;
  throw new SkillError('TASKS_INVALID', `${JSON.stringify(path)} cannot be the name of a file in a work folder`, {
    hint: 'Use relative paths such as check.py or data/in.txt.',
  });
}

/** Programs of the system that share blocks where the file system can, and are faster than we are where it cannot. */
const COPIES: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ['cp', '-a', '--reflink=auto'],
  darwin: ['cp', '-cRp'],
};

/** Copies a folder. Links stay links; pipes and devices are not opened. `to` may exist. */
export async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const [program, ...options] = COPIES[process.platform] ?? [];
  if (program === undefined) return copyHere(from, to);
  const { execa } = await import('execa');
  const { failed } = await execa(program, [...options, `${from}/.`, to], { reject: false, stdio: 'ignore' });
  if (failed) await copyHere(from, to); // the program does not know the options, or our error says better what is wrong
}

const copyHere = (from: string, to: string) =>
  cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, force: true });

/** How many files are read at once. */
const AT_ONCE = 16;

/** One hash of all that is in a folder: names, links, whether files can be run, and their bytes. Histories only if asked for. */
export async function manifestHash(
  folder: string,
  { keepHistory }: { readonly keepHistory: boolean },
): Promise<string> {
  const paths = (await pathsIn(folder)).filter((path) => keepHistory || !isHistory(path)).sort();
  const rows: string[] = [];
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    rows.push(...(await Promise.all(paths.slice(at, at + AT_ONCE).map((path) => rowOf(folder, path)))));
  }
  return createHash('sha256').update(rows.join('\n')).digest('hex');
}

/** All paths in a folder, relative to it. Links are not followed: `readdir` follows them where only names are asked for. */
export async function pathsIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}

/** A path of version control, at any depth: it can show how a task was once solved. */
export const isHistory = (path: string) => path.split(/[\\/]/).includes('.git');

async function rowOf(folder: string, path: string): Promise<string> {
  const full = join(folder, path);
  const stats = await lstat(full);
  const isRunnable = (stats.mode & 0o111) !== 0;
  const file = stats.isFile() ? await fileHash(full) : '';
  return JSON.stringify([
    path,
    stats.mode & 0o170000,
    isRunnable,
    stats.isSymbolicLink() ? await readlink(full) : file,
  ]);
}

/** The caller has checked that it is a plain file. */
export async function fileHash(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
