import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { manifestHash } from './manifest.ts';
import { moveAside, openRolloutFolder, removeTree } from './rollout-folder.ts';

/** Where folders are kept from run to run, each by the hash of what it was made of. */
const KEPT = 'templates';

const MOST_UNUSED_MS = 30 * 24 * 3_600_000;

type Keeping = {
  readonly root: string;
  readonly key: string;
  /** Fills an empty folder. */
  readonly make: (path: string) => Promise<void>;
};

/** The folder of this key, made where there is none. One that is no longer as it was made is made again: folders for temporary files are tidied by others. */
export async function keepFolder({ root, key, make }: Keeping): Promise<string> {
  const kept = join(root, KEPT, key);
  if (await isWhole(kept)) return filesIn(kept);
  if (existsSync(kept)) await removeKept(root, key);
  await using folder = await openRolloutFolder(root);
  const fresh = join(folder.path, 'kept');
  await mkdir(filesIn(fresh), { recursive: true });
  await make(filesIn(fresh));
  await writeFile(manifestOf(fresh), await hashOf(fresh));
  await mkdir(dirname(kept), { recursive: true });
  await rename(fresh, kept).catch((error) => {
    if (!existsSync(kept)) throw error; // otherwise another process was faster
  });
  return filesIn(kept);
}

const filesIn = (kept: string) => join(kept, 'files');
const manifestOf = (kept: string) => join(kept, 'manifest');
const hashOf = (kept: string) => manifestHash(filesIn(kept), { keepHistory: true });

/** Asked once by each process. What is used stays. */
async function isWhole(kept: string): Promise<boolean> {
  const expected = await readFile(manifestOf(kept), 'utf8').catch(() => undefined);
  if (expected === undefined || expected !== (await hashOf(kept).catch(() => ''))) return false;
  await utimes(manifestOf(kept), new Date(), new Date()).catch(() => {});
  return true;
}

/** What nobody has asked for in a month. */
export async function removeUnused(root: string): Promise<void> {
  for (const key of await readdir(join(root, KEPT)).catch(() => [])) {
    const asked = await stat(manifestOf(join(root, KEPT, key))).catch(() => undefined);
    if (asked === undefined || asked.mtimeMs < Date.now() - MOST_UNUSED_MS) await removeKept(root, key);
  }
}

async function removeKept(root: string, key: string): Promise<void> {
  const aside = await moveAside(join(root, KEPT, key), root);
  if (aside !== undefined) await removeTree(aside);
}
