import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { isFileError, isMissing } from './file-error.ts';
import { shownPath } from './shown-path.ts';

/** For opening a file that may be there already. The author of a planted link would choose what we write to. */
export const NO_FOLLOW = constants.O_NOFOLLOW ?? 0; // Windows has none, and few links

/** Makes the folders from `directory` down to `folder`. Throws `RUN_UNWRITABLE` when one of them is a link. */
export async function makeOwnFolder(directory: string, folder: string): Promise<void> {
  let path = directory;
  for (const name of relative(directory, folder).split(sep)) {
    path = join(path, name);
    await mkdir(path).catch((error) => {
      if (!isFileError(error) || error.code !== 'EEXIST') throw error;
    });
    await refuseLink(path);
  }
}

export async function refuseLink(path: string): Promise<void> {
  const found = await lstat(path).catch((error) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (!found?.isSymbolicLink()) return;
  throw new SkillError('RUN_UNWRITABLE', `${shownPath(path)} is a link, and a run writes only into its own folder`, {
    hint: 'Delete the link and start again, or choose another run directory (outRoot).',
  });
}

/** The first of `stem1`, `stem2` … that nothing stands at. */
export function freePath(stem: string): string {
  let number = 1;
  while (existsSync(`${stem}${number}`)) number += 1;
  return `${stem}${number}`;
}

/** A new file that is safe on disk when this returns. Throws when something stands there. */
export async function writeSynced(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes what was renamed or created in a folder safe. Windows cannot, and needs not. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}
