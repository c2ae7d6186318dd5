import { createHash } from 'node:crypto';
import { constants, existsSync, type Stats } from 'node:fs';
import { lstat, mkdir, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize, relative } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../../core/contracts/index.ts';
import { isFileError, isMissing, NO_FOLLOW } from '../../stores/index.ts';

export type Located = {
  readonly path: string;
  /** With every link resolved. */
  readonly realPath: string;
  /** Missing folders above it, outermost first. */
  readonly newFolders: readonly string[];
};

/** Files of a skill's folder need not be Markdown. */
export type AnyFile = { readonly isAnyFile?: boolean | undefined };

/** Finds the real path of a document. Refuses odd paths and those outside all `roots`. */
export async function locate(path: string, roots: readonly string[], { isAnyFile }: AnyFile = {}): Promise<Located> {
  refuseOddPath(path);
  if (!isAnyFile && !/[^\\/]\.md$/i.test(path))
    throw refused(`expected a file whose name ends in .md, got ${JSON.stringify(path)}`, OTHER_PATH);
  const found = await resolveLinks(normalize(path));
  if (!isAnyFile && !found.realPath.toLowerCase().endsWith('.md')) {
    throw refused(`${path} leads to ${found.realPath}, and a .md file was expected`, OTHER_PATH);
  }
  const places = await Promise.all(roots.map(async (root) => (await resolveLinks(normalize(root))).realPath));
  if (places.some((place) => liesIn(found.realPath, place))) return { path: normalize(path), ...found };
  const leads = found.realPath === normalize(path) ? 'lies' : `leads to ${found.realPath}, which lies`;
  throw refused(`${path} ${leads} outside of ${places.join(', ')}`, OTHER_PATH);
}

const OTHER_PATH = 'Name a Markdown file in a folder of skills or in the project.';

/** `..` is always refused: its meaning depends on links. Windows reads `\` too. */
function refuseOddPath(path: string): void {
  const shown = JSON.stringify(path);
  if (!isAbsolute(path)) throw refused(`expected an absolute path, got ${shown}`, OTHER_PATH);
  if (path.split(/[\\/]/).includes('..')) throw refused(`expected a path without .., got ${shown}`, OTHER_PATH);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused
  if (/[\x00-\x1f\x7f]/.test(path))
    throw refused(`expected a path without control characters, got ${shown}`, OTHER_PATH);
}

const liesIn = (path: string, folder: string) => {
  const below = relative(folder, path);
  return below === '' || (below !== '..' && !/^\.\.[\\/]/.test(below) && !isAbsolute(below));
};

/** The real path of the part that exists, followed by the names that do not exist yet. */
async function resolveLinks(path: string): Promise<Omit<Located, 'path'>> {
  const missing: string[] = [];
  for (let above = path; ; above = dirname(above)) {
    const real = await ifThere(realpath(above));
    if (real === undefined) await refuseDangling(above);
    else if (missing.length > 0 && !(await stat(real)).isDirectory())
      throw refused(`${real} is neither a Markdown file nor a folder`, OTHER_PATH);
    if (real !== undefined) return { realPath: join(real, ...missing), newFolders: foldersBelow(real, missing) };
    missing.unshift(basename(above));
  }
}

const foldersBelow = (real: string, names: readonly string[]) =>
  names.slice(0, -1).map((_, index) => join(real, ...names.slice(0, index + 1)));

async function refuseDangling(path: string): Promise<void> {
  if ((await ifThere(lstat(path))) === undefined) return;
  throw refused(`${path} is a link that leads nowhere`, 'Remove the link, or make the file that it leads to.');
}

export async function ifThere<Value>(looking: Promise<Value>): Promise<Value | undefined> {
  return looking.catch((error) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

export type Replacement = AnyFile & {
  readonly path: string;
  /** The real path when the bytes were read. Another one is refused. */
  readonly realPath?: string | undefined;
  /** SHA-256 of the present bytes. Null if there is no file. */
  readonly expected: string | null;
  readonly bytes: Buffer | null;
};

/** Points at which tests place a crash or an edit. */
export type Moment = 'checked' | 'journaled' | 'drafted' | 'replaced' | 'committed';

export type ReplaceOptions = {
  /** A private folder for the journal, the lock, and the old bytes of each transaction. */
  readonly journalFolder: string;
  /** Only files that really lie in one of these folders are written. */
  readonly roots: readonly string[];
  readonly id: string;
  readonly onMoment?: ((moment: Moment) => void | Promise<void>) | undefined;
};

/** After a swap, an editor that had the old file open may still write into it. The last check waits this long. */
export const LINGER_MS = 20;

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const Step = z.object({
  path: z.string(),
  realPath: z.string(),
  /** Device and inode of the folder. Empty for a new folder. */
  folderId: z.string(),
  newFolders: z.array(z.string()),
  before: digest.nullable(),
  after: digest.nullable(),
  mode: z.number().int().nullable(),
  /** The name of the old bytes. Null if there was no file. */
  backup: z.string().nullable(),
  draft: z.string(),
});
export type Step = z.infer<typeof Step>;

/** A transaction. It is the journal while it runs, and the receipt afterwards. */
export const Receipt = z.object({ version: z.literal(1), id: z.string(), at: z.string(), steps: z.array(Step) });
export type Receipt = z.infer<typeof Receipt>;

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
export const digestOrNull = (bytes: Uint8Array | null): string | null => (bytes === null ? null : digestOf(bytes));

export function refused(message: string, hint: string, cause?: unknown): SkillError {
  return new SkillError('DOCUMENT_REFUSED', message, { hint, cause });
}

export type OpenFolder = Awaited<ReturnType<typeof openFolder>>;

/** Opens a folder by its real path. It stays the same folder, whatever happens to its path. A link is refused. */
export async function openFolder(path: string) {
  const folder = await open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | NO_FOLLOW).catch((error) => {
    throw isFileError(error) && ['ELOOP', 'ENOTDIR'].includes(error.code ?? '') ? moved(path) : error;
  });
  const id = idOf(await folder.stat());
  // Linux finds entries by the open folder, even if a parent is renamed or replaced by a link.
  const handle = `/proc/self/fd/${folder.fd}`;
  const isAnchored = process.platform === 'linux' && existsSync(handle);
  return {
    path,
    /** Device and inode. */
    id,
    /** Whether entries are found by the folder itself, not by its path. */
    isAnchored,
    at: (name: string) => join(isAnchored ? handle : path, name),
    /** Whether the path still leads to this folder, without links. */
    isInPlace: async () => (await isReal(path)) && idOf(await stat(path)) === id,
    sync: () => (process.platform === 'win32' ? Promise.resolve() : folder.sync()),
    [Symbol.asyncDispose]: () => folder.close(),
  };
}

export async function makeFolder(path: string): Promise<void> {
  await using parent = await openFolder(dirname(path));
  if (!(await parent.isInPlace())) throw moved(parent.path);
  await mkdir(parent.at(basename(path)), 0o755).catch((error) => {
    throw isFileError(error) && error.code === 'EEXIST' ? moved(path) : error;
  });
  await parent.sync();
}

export const idOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

export const isReal = async (path: string) => (await ifThere(realpath(path))) === path;

export const moved = (path: string) =>
  refused(`${path} was moved or swapped for another while it was looked at`, 'Start again; look first who moves it.');
