import { copyFileSync, lstatSync, rmSync } from 'node:fs';
import { copyFile, lstat, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OWN_CALL_FOLDER } from '../core/contracts/index.ts';
import type { Invocation } from './agent-cli.ts';
import { atProcessEnd } from './run-process.ts';

/** A private folder for one call, with an empty `work` in it. Disposing removes it. */
export async function openCallFolder() {
  const path = await mkdtemp(join(await realpath(tmpdir()), OWN_CALL_FOLDER));
  const links: (readonly [link: string, target: string])[] = [];
  const cleanup = atProcessEnd(() => {
    for (const [link, target] of links) if (lstatSync(link).isFile()) copyFileSync(link, target);
    rmSync(path, REMOVAL);
  });
  await mkdir(join(path, 'work'));
  return {
    path,
    work: join(path, 'work'),
    async furnish(invocation: Invocation) {
      for (const [name, text] of Object.entries(invocation.files ?? {})) {
        await mkdir(dirname(join(path, name)), { recursive: true });
        await writeFile(join(path, name), text);
      }
      for (const [name, target] of Object.entries(invocation.links ?? {}))
        if (await linkTo(join(path, name), target)) links.push([join(path, name), target]);
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

/** Returns whether there is something to link to. */
async function linkTo(link: string, target: string): Promise<boolean> {
  const source = await realpath(target).catch(() => undefined);
  if (source === undefined) return false;
  await mkdir(dirname(link), { recursive: true });
  await symlink(source, link).catch(() => copyFile(source, link)); // Windows may forbid links
  return true;
}

/** A CLI that renews a sign-in may replace the link by a file. The old sign-in is then invalid, so the new one replaces it. */
async function returnRenewed(link: string, target: string): Promise<void> {
  const state = await lstat(link).catch(() => undefined);
  if (state?.isFile()) await copyFile(link, target).catch(() => undefined);
}
