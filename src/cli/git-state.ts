import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { findGit, gitEnvironment, QUIET_GIT } from '../workspaces/index.ts';

const run = promisify(execFile);

export type GitState = {
  /** Files of the tree with changes that are not committed, new ones included. */
  readonly changes: number;
};

/** The state of the working tree around a file; undefined where there is none, or no git. Nothing is changed. */
export async function gitState(path: string): Promise<GitState | undefined> {
  const git = findGit();
  if (git === undefined) return undefined;
  const args = [...QUIET_GIT, 'status', '--porcelain', '--untracked-files=normal'];
  const env = { ...gitEnvironment(git), GIT_OPTIONAL_LOCKS: '0' };
  try {
    const { stdout } = await run(git, args, { cwd: dirname(path), env, timeout: 5000, maxBuffer: 2 ** 24 });
    return { changes: stdout.split('\n').filter((line) => line !== '').length };
  } catch {
    return undefined; // no repository, one of somebody else, or too large to be looked through in this time
  }
}
