import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeGroups, removeStaleGroups } from '../limits/groups.ts';
import { isOrphaned, sweep } from '../processes/process-tree.ts';
import { removeUnused } from '../views/template.ts';
import { defaultRoot, LEFTOVERS, type Leftover, moveAside, removeTree } from './rollout-folder.ts';

/**
 * Removes what killed processes of ours left behind: their rollouts' processes, wherever they were started, and in `root`
 * their folders with all that these note. What belongs to a living process, or to an unknown one, stays. Several processes may
 * do this at once.
 */
export async function removeStale(root?: string): Promise<void> {
  const folder = root ?? (await defaultRoot());
  await sweep(isOrphaned);
  await removeStaleGroups();
  const names = await readdir(folder).catch(() => []);
  await Promise.all(names.filter(isOrphaned).map((name) => removeFolder(folder, name)));
  await removeUnused(folder);
}

/** The process that renames it first removes it, and is its owner from then on. */
async function removeFolder(root: string, name: string): Promise<void> {
  const path = await moveAside(join(root, name), root);
  if (path === undefined) return;
  for (const leftover of await readLeftovers(path)) await removeLeftover(leftover);
  if (await unmountBelow(path)) await removeTree(path);
}

async function readLeftovers(path: string): Promise<readonly Leftover[]> {
  const lines = (await readFile(join(path, LEFTOVERS), 'utf8').catch(() => '')).split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line)); // the last one is empty, or torn by the kill
}

async function removeLeftover(leftover: Leftover): Promise<void> {
  if ('group' in leftover) return removeGroups([leftover.group]);
  const { execa } = await import('execa');
  await execa(leftover.engine, ['rm', '-f', leftover.container], { reject: false, stdio: 'ignore', timeout: 30_000 });
}

/** A removal must not go into a mount. Gives whether nothing is mounted any more. */
async function unmountBelow(path: string): Promise<boolean> {
  for (const mounted of (await mountsBelow(path)).reverse()) {
    const { execa } = await import('execa');
    await execa('umount', ['-l', mounted], { reject: false, stdio: 'ignore' });
  }
  return (await mountsBelow(path)).length === 0;
}

async function mountsBelow(path: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')).split('\n');
  const points = lines.map((line) =>
    (line.split(' ')[4] ?? '').replaceAll(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))),
  );
  return points.filter((point) => point.startsWith(`${path}/`));
}
