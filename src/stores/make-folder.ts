import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * A folder, and those above it where they are missing. Node's own way never ends where the system says of a new folder that
 * it is not there, as below /proc.
 */
export async function makeFolder(path: string, options: { readonly mode?: number } = {}): Promise<void> {
  const error = await tryMake(path, options);
  if (error === undefined) return;
  if (error.code !== 'ENOENT' || dirname(path) === path) throw error;
  await makeFolder(dirname(path), options);
  const again = await tryMake(path, options);
  if (again !== undefined) throw again;
}

/** What the system says against it; nothing if it is there now. A file in its place is left to `recursive` to tell. */
async function tryMake(path: string, options: { readonly mode?: number }): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(path, options);
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    if (failure.code !== 'EEXIST') return failure;
    await mkdir(path, { recursive: true });
  }
}
