import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Mount, WorkspaceView } from '../../core/contracts/index.ts';

type Hiding = {
  readonly view: WorkspaceView;
  /** Where the agent sees the workspace, if its sandbox can give names. */
  readonly inside: string | undefined;
  /** A folder of ours for what stands in, or was moved out of the way. */
  readonly aside: string;
};

/** Keeps paths of a workspace from an agent: something empty is shown in their place, or they are elsewhere until it has ended. */
export async function hidePaths(paths: readonly string[], { view, inside, aside }: Hiding) {
  const found = await whatIsThere(view, paths);
  if (found.length === 0) return { mounts: [] as Mount[], restore: async () => {} };
  if (inside === undefined) return { mounts: [] as Mount[], restore: await moveAside(found, view.path, aside) };
  const empty = await layEmpty(aside);
  const standIn = ({ path, isFolder }: Found) =>
    isFolder ? empty.folder : path.endsWith('.json') ? empty.json : empty.file;
  const mounts = found.map((one) => ({ from: standIn(one), to: join(inside, one.path) }));
  return { mounts, restore: async () => {} };
}

type Found = { readonly path: string; readonly isFolder: boolean };

async function whatIsThere({ path: own, overlay }: WorkspaceView, paths: readonly string[]): Promise<Found[]> {
  const looked = await Promise.all(
    paths.map(async (path) => ({ path, stats: await stat(join(overlay?.lower ?? own, path)).catch(() => undefined) })),
  );
  return looked.flatMap(({ path, stats }) => (stats ? [{ path, isFolder: stats.isDirectory() }] : []));
}

async function layEmpty(aside: string) {
  const empty = { folder: join(aside, 'folder'), file: join(aside, 'file'), json: join(aside, 'file.json') };
  await mkdir(empty.folder, { recursive: true });
  await writeFile(empty.file, '');
  await writeFile(empty.json, '{}\n'); // settings that say nothing
  return empty;
}

async function moveAside(found: readonly Found[], workspace: string, aside: string): Promise<() => Promise<void>> {
  for (const { path } of found) {
    await mkdir(dirname(join(aside, path)), { recursive: true });
    await rename(join(workspace, path), join(aside, path));
  }
  return async () => {
    for (const { path } of found) {
      const isWritten = await stat(join(workspace, path)).then(
        () => true,
        () => false,
      );
      if (isWritten) continue; // what the agent wrote there is its work
      await mkdir(dirname(join(workspace, path)), { recursive: true });
      await rename(join(aside, path), join(workspace, path));
    }
  };
}
