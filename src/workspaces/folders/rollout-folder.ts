import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { newRolloutId } from '../processes/owner.ts';
import { atExit } from '../run/at-exit.ts';

/** A folder that is named by its owner, so that what a killed process leaves behind can be told from what is in use. */
export type RolloutFolder = AsyncDisposable & {
  readonly id: string;
  readonly path: string;
  /** Written down before it is made: what would stay behind besides the folder. */
  note(leftover: Leftover): void;
};

/** What lies outside of a rollout's folder and goes away with it. */
export type Leftover = { readonly group: string } | { readonly container: string; readonly engine: string };

/** In a rollout's folder, one in each line. */
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

/** Where rollouts of this user lie. Nobody else may come into it, or have made it. */
export async function defaultRoot(): Promise<string> {
  const user = process.getuid?.() ?? 'user';
  const parent = await realpath(tmpdir());
  const path = join(parent, `skillopt-rollouts-${user}`);
  await mkdir(path, { mode: 0o700 }).catch(() => {});
  const { mode, uid } = await lstat(path);
  const isOurs = (mode & 0o170077) === 0o040000 && (user === 'user' || uid === user);
  if (isOurs || process.platform === 'win32') return path;
  fallback ??= mkdtemp(`${path}-`);
  return fallback;
}

/** Where someone else has taken the name. */
let fallback: Promise<string> | undefined;

async function privateFolder(root: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  return realpath(root);
}

/** Removed beside what comes next. Its new name is again one of ours: who is killed meanwhile leaves it to the next start. */
async function setAside(path: string): Promise<void> {
  const aside = await moveAside(path, dirname(path));
  if (aside === undefined) return;
  const rest = atExit(() => rmSync(aside, { recursive: true, force: true })); // the process may end before the removal does
  void removeTree(aside)
    .catch(() => {}) // the next start tries again
    .finally(() => rest[Symbol.dispose]());
}

/** When the process ends in the midst of it. What takes longer to remove, or must not be gone into, is left to the next start. */
function removeAtOnce(path: string): void {
  const noted = existsSync(join(path, LEFTOVERS)) ? readFileSync(join(path, LEFTOVERS), 'utf8') : '';
  if (noted.includes('"container"') || isMountedBelow(path)) return;
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }); // who was just ended may still write
}

function isMountedBelow(path: string): boolean {
  const table = '/proc/self/mountinfo';
  return existsSync(table) && readFileSync(table, 'utf8').includes(` ${path}/`);
}

/** To a name of ours below `root`. `undefined` when someone else was faster. */
export async function moveAside(path: string, root: string): Promise<string | undefined> {
  const aside = join(root, newRolloutId());
  return rename(path, aside).then(
    () => aside,
    () => undefined,
  );
}

/** Also what its owner may not read, and names that are no text. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 2 });
  } catch {
    await execa('chmod', ['-R', 'u+rwx', path], { reject: false, stdio: 'ignore' }); // never through a link
    await execa('rm', ['-rf', path], { stdio: 'ignore' });
  }
}
