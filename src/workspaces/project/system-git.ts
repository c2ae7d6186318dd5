import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { execa } from 'execa';

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

/** Nothing is written, nobody is asked, nothing is fetched. */
const READ_ONLY = { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1' };

export type GitAnswer = { readonly exitCode: number; readonly bytes: Uint8Array; readonly stderr: string };

/** What git says about a folder; `undefined` where there is no git. */
export async function askGit(folder: string, args: readonly string[], input = ''): Promise<GitAnswer | undefined> {
  const git = findGit();
  if (git === undefined) return undefined;
  const env = { ...gitEnvironment(git), ...READ_ONLY };
  const options = { cwd: folder, env, extendEnv: false, input, encoding: 'buffer', reject: false } as const;
  const {
    exitCode = -1,
    stdout,
    stderr,
  } = await execa(git, [...QUIET_GIT, ...args], {
    ...options,
    stripFinalNewline: false,
    maxBuffer: 2 ** 30,
  });
  return { exitCode, bytes: stdout, stderr: Buffer.from(stderr).toString() };
}
