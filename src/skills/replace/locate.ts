import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize, relative } from 'node:path';
import { isMissing } from '../../stores/index.ts';
import { refused } from './replacement.ts';

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
