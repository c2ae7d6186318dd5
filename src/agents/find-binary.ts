import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Environment } from './agent-cli.ts';

/** Where `binary` is on the search path, as a shell would find it. */
export function findBinary(binary: string, env: Environment): string | undefined {
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter(Boolean);
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
