import { join } from 'node:path';
import { execa } from 'execa';
import type { WorkspaceView } from '../../core/contracts/index.ts';
import { launched } from '../sandbox/launcher.ts';
import {
  type Compared,
  type Difference,
  differencesOf,
  type Found,
  find,
  isLeftOut,
  leftOutNote,
  namesIn,
} from './difference.ts';

/** What changed in a view: all that is in its upper folder, and what folders that were made again hide of the lower one. */
export async function compareOverlay(view: WorkspaceView): Promise<Compared> {
  const { lower, upper } = view.overlay!;
  const leftOut: string[] = [];
  const differences: Difference[] = [];
  const inBoth: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const name of await namesIn(join(upper, folder), folder || '.', leftOut)) {
      await compare(name, folder === '' ? name : `${folder}/${name}`);
    }
  };
  const compare = async (name: string, path: string) => {
    const [was, there] = await Promise.all([find(join(lower, path)), find(join(upper, path))]);
    const is = there && isWhiteout(there) ? undefined : there;
    if (isLeftOut(name, was) || isLeftOut(name, is)) leftOut.push(leftOutNote(path));
    else if (there === undefined) leftOut.push(`${path}: its name cannot be read`);
    else if (was?.stats.isDirectory() && is?.stats.isDirectory()) {
      inBoth.push(path);
      await walk(path);
    } else differences.push(...(await differencesOf({ path, before: was, after: is }, leftOut)));
  };
  await walk('');
  for (const path of await hiddenIn(view, inBoth)) {
    differences.push(...(await differencesOf({ path, before: await find(join(lower, path)) }, leftOut)));
  }
  return { differences, leftOut: [...new Set(leftOut)] };
}

/** How a view marks what was removed from it. */
const isWhiteout = ({ stats }: Found) => stats.isCharacterDevice() && stats.rdev === 0;

/**
 * What lies in the lower one of these folders and is neither in the upper one nor seen. Whether a folder hides the one below
 * it is an attribute that we cannot read; so the view is mounted, and looked at.
 */
async function hiddenIn(view: WorkspaceView, folders: readonly string[]): Promise<string[]> {
  const { lower, upper } = view.overlay!;
  const rows = await Promise.all(
    folders.map(async (folder) => {
      const above = new Set(await namesIn(join(upper, folder), folder, []));
      const below = await namesIn(join(lower, folder), folder, []);
      return below.filter((name) => !above.has(name)).map((name) => `${folder}/${name}`);
    }),
  );
  const asked = rows.flat();
  if (asked.length === 0) return [];
  const seen = await namesSeen(view, [...new Set(folders)]);
  return asked.filter((path) => !seen.has(path));
}

const LIST = `cd "$0" && exec xargs -0 sh -c 'exec find "$@" -mindepth 1 -maxdepth 1 -print0' sh`;

async function namesSeen(workspace: WorkspaceView, folders: readonly string[]): Promise<ReadonlySet<string>> {
  const [file = '', ...args] = launched(['/bin/sh', '-c', LIST, workspace.path], { workspace });
  const input = folders.map((folder) => `./${folder}`).join('\0');
  const { stdout } = await execa(file, args, { input, maxBuffer: 256 * 1024 * 1024 });
  return new Set(stdout.split('\0').map((path) => path.slice('./'.length)));
}
