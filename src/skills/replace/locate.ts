import { createHash } from 'node:crypto';
import { constants, existsSync, type Stats } from 'node:fs';
import { lstat, mkdir, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize, relative } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../../core/contracts/index.ts';
import { isFileError, isMissing, NO_FOLLOW } from '../../stores/index.ts';

export type Located = {
  /** As it was given, without doubled slashes. */
  readonly path: string;
  /** With every link resolved. */
  readonly realPath: string;
  /** Folders above it that are not there yet, outermost first. */
  readonly newFolders: readonly string[];
};

/** Whether a file may be called anything: those of a skill's folder are not all Markdown. */
export type AnyFile = { readonly isAnyFile?: boolean | undefined };

/** Where a document really lies. Refuses what lies in none of the `roots`, and paths that nobody means. */
export async function locate(path: string, roots: readonly string[], { isAnyFile }: AnyFile = {}): Promise<Located> {
  refuseOddPath(path);
  if (!isAnyFile) requireMarkdown(path);
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

/** `..` is refused even where it would lead to a good place: what it means depends on links, and Windows reads `\` too. */
function refuseOddPath(path: string): void {
  const shown = JSON.stringify(path);
  if (!isAbsolute(path)) throw refused(`expected an absolute path, got ${shown}`, OTHER_PATH);
  if (path.split(/[\\/]/).includes('..')) throw refused(`expected a path without .., got ${shown}`, OTHER_PATH);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x1f\x7f]/.test(path))
    throw refused(`expected a path without control characters, got ${shown}`, OTHER_PATH);
}

function requireMarkdown(path: string): void {
  if (/[^\\/]\.md$/i.test(path)) return;
  throw refused(`expected a file whose name ends in .md, got ${JSON.stringify(path)}`, OTHER_PATH);
}

const liesIn = (path: string, folder: string) => {
  const below = relative(folder, path);
  return below === '' || (below !== '..' && !/^\.\.[\\/]/.test(below) && !isAbsolute(below));
};

/** The real path of what is there, with the names of what is not behind it. */
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

/** What is to become of one file. */
export type Replacement = {
  /** Absolute. */
  readonly path: string;
  /** Where the path led when its bytes were read. One that leads elsewhere by now is refused. */
  readonly realPath?: string | undefined;
  /** SHA-256 of the bytes that are there; null: there is no file. */
  readonly expected: string | null;
  /** Null removes the file. */
  readonly bytes: Buffer | null;
  /** Whether its name need not be that of a Markdown file. */
  readonly isAnyFile?: boolean | undefined;
};

/** Points at which a crash or an edit by somebody else may come. */
export type Moment = 'checked' | 'journaled' | 'drafted' | 'replaced' | 'committed';

export type ReplaceOptions = {
  /** Private: journal, lock, and the old bytes of each transaction. Made if it is not there. */
  readonly journalFolder: string;
  /** Only what really lies in one of these folders is written. */
  readonly roots: readonly string[];
  /** Names the transaction, and its folder. */
  readonly id: string;
  readonly onMoment?: ((moment: Moment) => void | Promise<void>) | undefined;
};

/** After a swap, before the last look: an editor that had the old file open may be about to write into it. */
export const LINGER_MS = 20;

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const Step = z.object({
  path: z.string(),
  realPath: z.string(),
  /** Device and inode of the folder; empty for one that is to be made. */
  folderId: z.string(),
  /** Folders to be made, outermost first. */
  newFolders: z.array(z.string()),
  before: digest.nullable(),
  after: digest.nullable(),
  mode: z.number().int().nullable(),
  /** The old bytes; null where there was no file. */
  backup: z.string().nullable(),
  /** Name of the file beside the live one that takes its place. */
  draft: z.string(),
});
export type Step = z.infer<typeof Step>;

/** A transaction: in the journal while it runs, and its receipt afterwards. */
export const Receipt = z.object({ version: z.literal(1), id: z.string(), at: z.string(), steps: z.array(Step) });
export type Receipt = z.infer<typeof Receipt>;

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
export const digestOrNull = (bytes: Uint8Array | null): string | null => (bytes === null ? null : digestOf(bytes));

export function refused(message: string, hint: string, cause?: unknown): SkillError {
  return new SkillError('DOCUMENT_REFUSED', message, { hint, cause });
}

/** A folder that stays the same one while it is open, whatever becomes of its path. */
export interface OpenFolder extends AsyncDisposable {
  readonly path: string;
  /** Device and inode. */
  readonly id: string;
  /** Whether entries are found by the folder itself, not by its path. */
  readonly isAnchored: boolean;
  /** The path of an entry in it. */
  at(name: string): string;
  /** Whether the path still leads to this folder, and no link stands in it. */
  isInPlace(): Promise<boolean>;
  sync(): Promise<void>;
}

/** Opens a folder by its real path. A link is refused. */
export async function openFolder(path: string): Promise<OpenFolder> {
  const folder = await open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | NO_FOLLOW).catch((error) => {
    throw isFileError(error) && ['ELOOP', 'ENOTDIR'].includes(error.code ?? '') ? moved(path) : error;
  });
  const id = idOf(await folder.stat());
  // Linux finds entries by the open folder: a parent that is renamed or swapped for a link leads nothing astray.
  const handle = `/proc/self/fd/${folder.fd}`;
  const isAnchored = process.platform === 'linux' && existsSync(handle);
  return {
    path,
    id,
    isAnchored,
    at: (name) => join(isAnchored ? handle : path, name),
    isInPlace: async () => (await isReal(path)) && idOf(await stat(path)) === id,
    sync: () => (process.platform === 'win32' ? Promise.resolve() : folder.sync()),
    [Symbol.asyncDispose]: () => folder.close(),
  };
}

/** Makes a folder, which must not be there. */
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
