import { execa } from 'execa';

/** A walk that takes longer counts for nothing. The limit of a single file holds all the same. */
const MOST_MS = 30_000;

/**
 * What these folders take up on their disks, in whole blocks: a hole in a file takes up nothing. Links are not followed. A
 * program of the system does it several times as fast as we could, and beside us.
 */
export async function diskMbOf(folders: readonly string[]): Promise<number> {
  if (folders.length === 0) return 0;
  const { stdout } = await execa('du', ['-skx', ...folders], {
    reject: false, // what is removed while it looks is said on the other output
    timeout: MOST_MS,
    stderr: 'ignore',
  });
  const kilobytes = stdout.split('\n').map((line) => Number.parseInt(line, 10) || 0);
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024;
}

/** Blocks of 512 bytes, which `ulimit -f` counts in. One file cannot be larger than all of them may be together. */
export const fileBlocks = (diskMb: number) => Math.ceil(diskMb * 2048);
