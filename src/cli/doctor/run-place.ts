import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isMissing, JOURNAL_FILE, shownPath, unwritable } from '../../stores/index.ts';

/** Throws unless a run can be kept at a path. Only looks: at the run that is there, or at the folder in which it would be made. */
export async function requireRunPlace(path: string, cwd: string): Promise<string> {
  const place = await nearestThere(path);
  try {
    if (!(await stat(place)).isDirectory()) throw new Error(`${shownPath(place, cwd)} is a file, and no folder`);
    await access(place, constants.W_OK | constants.X_OK);
    await access(join(path, JOURNAL_FILE), constants.W_OK).catch((error) => {
      if (!isMissing(error)) throw error;
    });
  } catch (error) {
    throw unwritable(path, error);
  }
  return `${shownPath(path, cwd)} can be written`;
}

/** The path itself, or the first folder above it that can be seen. */
async function nearestThere(path: string): Promise<string> {
  const isSeen = await stat(path).then(
    () => true,
    () => false,
  );
  return isSeen || dirname(path) === path ? path : nearestThere(dirname(path));
}
