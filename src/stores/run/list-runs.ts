import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, unreadable } from '../file-error.ts';
import { JOURNAL_FILE } from './run-directory.ts';

export type RunListing = {
  readonly name: string;
  readonly path: string;
  /** When the journal was last written. */
  readonly modifiedAt: Date;
};

/** The runs right below `root`, newest first; none when there is no such folder. Reads no journal. */
export async function listRuns(root: string): Promise<RunListing[]> {
  const names = await readdir(root).catch((error) => {
    if (isMissing(error)) return [];
    throw unreadable(root, error);
  });
  const listings = await Promise.all(names.map((name) => toListing(root, name)));
  return listings.flat().sort((a, b) => Number(b.modifiedAt) - Number(a.modifiedAt) || a.name.localeCompare(b.name));
}

/** What nobody lets us look into may be a run: whoever opens it is told. */
async function toListing(root: string, name: string): Promise<RunListing[]> {
  const path = join(root, name);
  try {
    const journal = await stat(join(path, JOURNAL_FILE));
    return journal.isFile() ? [{ name, path, modifiedAt: journal.mtime }] : [];
  } catch (error) {
    return isMissing(error) ? [] : [{ name, path, modifiedAt: (await lstat(path)).mtime }];
  }
}
