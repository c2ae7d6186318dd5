import { copyFileSync, lstatSync, rmSync } from 'node:fs';
import { copyFile, lstat, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OWN_CALL_FOLDER } from '../core/contracts/index.ts';
import type { Invocation } from './agent-cli.ts';
import { atProcessEnd } from './at-process-end.ts';

/** A private folder for one call, with an empty `work` in it. Gone when disposed. */
export async function openCallFolder() {
  const path = await mkdtemp(join(await realpath(tmpdir()), OWN_CALL_FOLDER));
  let links: readonly (readonly [string, string])[] = [];
  const cleanup = atProcessEnd(() => {
    for (const [link, target] of links) if (lstatSync(link).isFile()) copyFileSync(link, target);
    rmSync(path, REMOVAL);
  });
  await mkdir(join(path, 'work'));
  return {
    path,
    work: join(path, 'work'),
    async furnish(invocation: Invocation) {
      for (const [name, text] of Object.entries(invocation.files ?? {})) await write(join(path, name), text);
      const wanted = Object.entries(invocation.links ?? {}).map(
        ([name, target]) => [join(path, name), target] as const,
      );
      links = await keepAsync(wanted, ([link, target]) => linkTo(link, target));
    },
    async [Symbol.asyncDispose]() {
      for (const [link, target] of links) await returnRenewed(link, target);
      await rm(path, REMOVAL);
      cleanup[Symbol.dispose]();
    },
  };
}

/** A program that was just ended may still be writing. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const;

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Whether there was something to link to. */
async function linkTo(link: string, target: string): Promise<boolean> {
  const source = await realpath(target).catch(() => undefined);
  if (source === undefined) return false;
  await mkdir(dirname(link), { recursive: true });
  await symlink(source, link).catch(() => copyFile(source, link)); // Windows may forbid links
  return true;
}

/** A CLI that renews a sign-in may replace the link by a file. The old sign-in is void then, so the new one is kept. */
async function returnRenewed(link: string, target: string): Promise<void> {
  const state = await lstat(link).catch(() => undefined);
  if (state?.isFile()) await copyFile(link, target).catch(() => undefined);
}

async function keepAsync<T>(items: readonly T[], keep: (item: T) => Promise<boolean>): Promise<readonly T[]> {
  const kept = await Promise.all(items.map(keep));
  return items.filter((_, index) => kept[index]);
}
