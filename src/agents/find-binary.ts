import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Environment } from './agent-cli.ts';

/**
 * Where `binary` is on the search path. Entries that are not absolute are left out: what they mean depends on the folder
 * that one is in, and anybody may have put a program there.
 */
export function findBinary(binary: string, env: Environment): string | undefined {
  return findIn(searchPath(env).filter(isAbsolute), binary, env);
}

/** The entry of the search path that has `binary` and was left out. */
export function findSkipped(binary: string, env: Environment): string | undefined {
  const skipped = searchPath(env).filter((folder) => !isAbsolute(folder));
  return skipped.find((folder) => findIn([folder], binary, env) !== undefined);
}

const searchPath = (env: Environment) => (env.PATH ?? env.Path ?? '').split(delimiter).filter(Boolean);

function findIn(folders: readonly string[], binary: string, env: Environment): string | undefined {
  const endings = process.platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD').split(';') : [''];
  return folders.flatMap((folder) => endings.map((ending) => join(folder, binary + ending))).find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
