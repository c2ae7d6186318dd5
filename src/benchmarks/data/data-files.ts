import { createHash } from 'node:crypto';
import { createReadStream, realpathSync } from 'node:fs';
import { lstat, opendir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { memoize } from '../../core/text/index.ts';

/** What the names of folders begin with in which `bench pull` drafts. */
export const DRAFT = '.skillopt-pull-';

/** Larger files are no part of a task. */
const MOST_BYTES = 64_000_000;
const MOST_FILES = 200_000;

/**
 * The files that items of a benchmark name, below one or more folders. A name or a link that leads out of these folders is refused.
 * Errors are for the message of a row: they say what is wrong with a file.
 */
export class DataFiles {
  readonly roots: readonly string[];
  readonly #hash = memoize((path: string) => sha256Of(path), { maxEntries: 10_000 });

  constructor(roots: readonly string[]) {
    this.roots = [...new Set(roots.map((root) => resolve(root)))];
  }

  /** The path of the file with links followed. The first folder that has it counts. */
  async pathOf(name: string): Promise<string> {
    for (const root of this.roots) {
      const path = isAbsolute(name) ? name : join(root, name);
      const [real, folder] = await Promise.all([path, root].map((one) => realpath(one).catch(() => undefined)));
      if (real === undefined || folder === undefined) continue;
      if (!isInside(real, folder)) {
        if (isAbsolute(name)) continue;
        throw new Error(`the file ${name} leads out of ${root}`);
      }
      return real;
    }
    const where = isAbsolute(name) ? `outside of ${this.places()}, or missing` : `not in ${this.places()}`;
    throw new Error(`the file ${name} is ${where}`);
  }

  /** The folders in words, without a draft: a person knows nothing of it. */
  places(): string {
    return this.roots.filter((root) => !basename(root).startsWith(DRAFT)).join(', ');
  }

  async has(name: string): Promise<boolean> {
    return this.pathOf(name).then(
      () => true,
      () => false,
    );
  }

  async bytes(name: string, most = MOST_BYTES): Promise<Buffer> {
    const path = await this.pathOf(name);
    const entry = await stat(path);
    if (!entry.isFile()) throw new Error(`the file ${name} is a folder, a pipe or a device`); // reading a pipe would wait for ever
    const { size } = entry;
    if (size > most) throw new Error(`the file ${name} has ${size} bytes, more than ${most}`);
    return readFile(path);
  }

  async text(name: string): Promise<string> {
    return (await this.bytes(name)).toString('utf8');
  }

  async sha256(name: string): Promise<string> {
    return this.#hash(await this.pathOf(name));
  }

  /** The names of all files, relative to their folder, in order. Links and hidden names are left out. */
  async names(): Promise<string[]> {
    const found = new Set<string>();
    for (const root of this.roots) for (const name of await this.namesIn(root)) found.add(name);
    return [...found].sort();
  }

  /** The names of all files in one of the folders, in order. A folder may itself be a link, and one that is missing has none. */
  async namesIn(root: string): Promise<string[]> {
    const folder = await realpath(root).catch(() => undefined);
    if (folder === undefined) return [];
    const found: string[] = [];
    for await (const path of walk(folder)) found.push(relative(folder, path).split(sep).join('/'));
    return found.sort();
  }

  /** The names of links in the first folder. They are not followed: what they point to may lie anywhere. */
  async links(): Promise<string[]> {
    const found: string[] = [];
    const folder = await realpath(this.roots[0]!);
    for await (const path of walk(folder, 'isSymbolicLink')) found.push(relative(folder, path).split(sep).join('/'));
    return found.sort();
  }
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

export const isInside = (path: string, folder: string) =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Whether the one folder is the other, or lies in it, whatever links lead there. */
export const holdsFolder = (folder: string, inner: string): boolean => isInside(realPathOf(inner), realPathOf(folder));

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path); // a folder that is gone holds nothing
  }
}

async function* walk(
  folder: string,
  wanted: 'isFile' | 'isSymbolicLink' = 'isFile',
  seen = { files: 0 },
): AsyncGenerator<string> {
  if (!(await lstat(folder)).isDirectory()) return;
  for await (const entry of await opendir(folder)) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path, wanted, seen);
    if (!entry[wanted]()) continue;
    if (++seen.files > MOST_FILES) throw new Error(`${folder} holds more than ${MOST_FILES} files`);
    yield path;
  }
}
