import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isFileError, isMissing } from './file-error.ts';
import { NO_FOLLOW, syncFolder, writeSynced } from './own-place.ts';
import { requireOwn } from './state-folder.ts';

/** The text of a file of ours, or `undefined` when there is none. */
export async function readPrivate(path: string): Promise<string | undefined> {
  await requireOwn(path, 'file');
  try {
    const file = await open(path, constants.O_RDONLY | NO_FOLLOW);
    return await file.readFile('utf8').finally(() => file.close());
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Readers find the old text or the new one, also after a crash of the machine. Nobody else can read it at any moment. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const draft = `${path}.tmp`;
  await requireOwn(path, 'file');
  await rm(draft, { force: true }); // Left by a crash, or a planted link: it goes, and is not followed.
  await writeSynced(draft, text, 0o600);
  await rename(draft, path);
  await syncFolder(dirname(path));
}

/** An empty file, unless one is there: for what a library opens by its path. Its companions get the same mode. */
export async function createPrivate(path: string): Promise<void> {
  await requireOwn(path, 'file');
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    if (!isFileError(error) || error.code !== 'EEXIST') throw error;
  }
}
