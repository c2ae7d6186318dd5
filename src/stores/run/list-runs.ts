import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../file-error.ts';
import { JOURNAL_FILE } from './run-directory.ts';

export type RunListing = {
  readonly name: string;
  readonly path: string;
  /** When the journal was last written. */
  readonly modifiedAt: Date;
};

/** The runs right below `root`, newest first; none when there is no such folder. Reads no journal. */
export async function listRuns(root: string): Promise<RunListing[]> {
  const names = await readdir(root).catch(ifMissing([]));
  const listings = await Promise.all(names.map((name) => toListing(root, name)));
  return listings.flat().sort((a, b) => Number(b.modifiedAt) - Number(a.modifiedAt) || a.name.localeCompare(b.name));
}

async function toListing(root: string, name: string): Promise<RunListing[]> {
  const path = join(root, name);
  const journal = await stat(join(path, JOURNAL_FILE)).catch(ifMissing(undefined));
  return journal?.isFile() ? [{ name, path, modifiedAt: journal.mtime }] : [];
}

function ifMissing<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (isMissing(error)) return value;
    throw error;
  };
}
