import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where systems put git. The PATH is not asked: a project may have put something of its own in front. */
const PLACES = [
  '/usr/bin/git',
  '/usr/local/bin/git',
  '/opt/homebrew/bin/git',
  '/run/current-system/sw/bin/git',
  'C:\\Program Files\\Git\\cmd\\git.exe',
];

/** The git of the system, if there is one. */
export const findGit = () => PLACES.find((place) => existsSync(place));

// A configured monitor would be run as a command of whoever wrote the configuration.
export const QUIET_GIT = ['-c', 'core.fsmonitor=false'] as const;

export const gitEnvironment = (git: string) => ({ PATH: dirname(git), HOME: process.env.HOME, LC_ALL: 'C' });

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
