import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { atExit, newRolloutId } from '../processes/process-tree.ts';

/** A folder with the name of its owner: the name says whether it is in use, or was left behind by a killed process. */
export type RolloutFolder = AsyncDisposable & {
  readonly id: string;
  readonly path: string;
  /** Notes what would stay behind besides the folder, before it is made. */
  note(leftover: Leftover): void;
};

/** Something outside of a rollout's folder that is removed with it. */
export type Leftover = { readonly group: string } | { readonly container: string; readonly engine: string };

/** In a rollout's folder, one a line. */
export const LEFTOVERS = 'leftovers.jsonl';

export async function openRolloutFolder(root?: string): Promise<RolloutFolder> {
  const id = newRolloutId();
  const path = join(root === undefined ? await defaultRoot() : await privateFolder(root), id);
  await mkdir(path, { mode: 0o700 });
  const rest = atExit(() => removeAtOnce(path));
  return {
    id,
    path,
    note: (leftover) => appendFileSync(join(path, LEFTOVERS), `${JSON.stringify(leftover)}\n`),
    async [Symbol.asyncDispose]() {
      await setAside(path);
      rest[Symbol.dispose]();
    },
  };
}

/** The folder of this user's rollouts. Nobody else may enter it, or have made it. */
export async function defaultRoot(): Promise<string> {
  const user = process.getuid?.() ?? 'user';
  const path = join(await realpath(tmpdir()), `skillopt-rollouts-${user}`);
  await mkdir(path, { mode: 0o700 }).catch(() => {});
  const { mode, uid } = await lstat(path);
  const isOurs = (mode & 0o170077) === 0o040000 && (user === 'user' || uid === user);
  if (isOurs || process.platform === 'win32') return path;
  fallback ??= mkdtemp(`${path}-`);
  return fallback;
}

/** Used where someone else has taken the name. */
let fallback: Promise<string> | undefined;

async function privateFolder(root: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  return realpath(root);
}

/** Removes it in the background. Its new name is one of ours too: if this process is killed, the next start removes it. */
async function setAside(path: string): Promise<void> {
  const aside = await moveAside(path, dirname(path));
  if (aside === undefined) return;
  const rest = atExit(() => rmSync(aside, { recursive: true, force: true })); // the process may end before the removal does
  void removeTree(aside)
    .catch(() => {}) // the next start tries again
    .finally(() => rest[Symbol.dispose]());
}

/** For a process that exits. What takes longer to remove, or has mounts in it, is left to the next start. */
function removeAtOnce(path: string): void {
  const noted = existsSync(join(path, LEFTOVERS)) ? readFileSync(join(path, LEFTOVERS), 'utf8') : '';
  if (noted.includes('"container"') || isMountedBelow(path)) return;
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }); // a process that was just ended may still write
}

function isMountedBelow(path: string): boolean {
  const table = '/proc/self/mountinfo';
  return existsSync(table) && readFileSync(table, 'utf8').includes(` ${path}/`);
}

/** Renames it to a name of ours below `root`. `undefined` when another process was faster. */
export async function moveAside(path: string, root: string): Promise<string | undefined> {
  const aside = join(root, newRolloutId());
  return rename(path, aside).then(
    () => aside,
    () => undefined,
  );
}

/** Also files that their owner may not read, and names that are no text. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 2 });
  } catch {
    const { execa } = await import('execa');
    await execa('chmod', ['-R', 'u+rwx', path], { reject: false, stdio: 'ignore' }); // never through a link
    await execa('rm', ['-rf', path], { stdio: 'ignore' });
  }
}
