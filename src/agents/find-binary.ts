import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Environment } from './agent-cli.ts';

/**
 * Where `binary` is on the search path. Places that somebody else may have written to do not count: relative entries, a
 * `node_modules/.bin`, and everything in one of `projects`, also behind a link. The program would run with a person's sign-in.
 */
export function findBinary(binary: string, env: Environment, projects: readonly string[] = []): string | undefined {
  const folders = searchPath(env).filter((folder) => isAbsolute(folder) && !isForeign(folder, projects));
  return candidates(folders, binary, env).find((path) => isExecutable(path) && !isForeign(path, projects));
}

/** Why a program of that name on the search path was not used. Empty when there is none. */
export function skippedNote(binary: string, env: Environment): string {
  const folder = searchPath(env).find((one) => candidates([one], binary, env).some(isExecutable));
  if (folder === undefined) return '';
  return isAbsolute(folder)
    ? `It is in ${folder}, but programs that a project brings along are never used. `
    : `It is in ${folder}, but entries of PATH that are not absolute are never used. `;
}

const searchPath = (env: Environment) => (env.PATH ?? env.Path ?? '').split(delimiter).filter(Boolean);

function candidates(folders: readonly string[], binary: string, env: Environment): readonly string[] {
  const endings = process.platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD').split(';') : [''];
  return folders.flatMap((folder) => endings.map((ending) => join(folder, binary + ending)));
}

/** Whether a project brings this program or folder of programs along, by its own path or its real one. */
export function isForeign(path: string, projects: readonly string[]): boolean {
  return [resolve(path), realPath(path)].some(
    (one) => /[\\/]node_modules[\\/]\.bin(?:[\\/]|$)/.test(one) || projects.some((project) => isInside(one, project)),
  );
}

/**
 * The folders that belong to the project around `folder`: the folder itself and its checkout, by all their paths. A home is
 * no project, although some people keep their settings in a repository there.
 */
export function projectFolders(folder: string, home: string): readonly string[] {
  const names = [resolve(folder), realPath(folder)];
  const roots = new Set(names.flatMap((name) => [name, checkoutOf(name) ?? name]));
  return [...roots].filter((root) => ![home, realPath(home)].some((one) => isInside(one, root)));
}

function checkoutOf(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  return dirname(folder) === folder ? undefined : checkoutOf(dirname(folder));
}

/** The real path, or the path itself where there is nothing. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

export function isInside(path: string, folder: string): boolean {
  const below = relative(resolve(folder), resolve(path));
  return below === '' || (!below.startsWith(`..${sep}`) && below !== '..' && !isAbsolute(below));
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
