import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { execa } from 'execa';
import { SkillError } from '../core/contracts/index.ts';
import { oneLine } from '../core/text/index.ts';
import { findGit, gitEnvironment, QUIET_GIT } from '../workspaces/index.ts';

/** A file as it was at a revision, in a folder of its own. `await using` removes it. */
export type GitVersion = AsyncDisposable & {
  /** Nothing where the revision has no such file. */
  readonly path: string | undefined;
};

/**
 * A document at a revision of the repository around it; a SKILL.md with its whole folder, since it may refer to what is there.
 * Neither the working tree nor the index is touched.
 */
export async function gitVersion(file: string, revision: string): Promise<GitVersion> {
  const folder = await mkdtemp(join(tmpdir(), 'skillopt-git-'));
  const dispose = () => rm(folder, { recursive: true, force: true });
  try {
    const path = await checkOut(await realpath(file), revision, folder);
    return { path, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function checkOut(file: string, revision: string, folder: string): Promise<string | undefined> {
  const top = (await git(['rev-parse', '--show-toplevel'], dirname(file), NO_REPOSITORY)).trim();
  const commit = (
    await git(['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`], top, NO_REVISION)
  ).trim();
  const name = relative(await realpath(top), file)
    .split(sep)
    .join('/');
  const env = { GIT_INDEX_FILE: join(folder, 'index') };
  await git(['read-tree', commit], top, NO_REVISION, env);
  const wanted = basename(name).toLowerCase() === 'skill.md' && name.includes('/') ? `${dirname(name)}/` : name;
  const names = (await git(['ls-files', '-z', '--', `:(literal)${wanted}`], top, NO_REVISION, env)).split('\0');
  if (!names.includes(name)) return undefined;
  const prefix = `${join(folder, 'tree')}/`;
  await git(['checkout-index', '-z', '--stdin', `--prefix=${prefix}`], top, NO_REVISION, env, names.join('\0'));
  return join(prefix, name);
}

const NO_REPOSITORY = 'Give the path of the older document instead: --baseline OLD.md';
const NO_REVISION =
  'Name a branch, tag or commit that is here. In a shallow clone of a workflow: actions/checkout with fetch-depth: 0.';

async function git(args: readonly string[], cwd: string, hint: string, env: object = {}, input = ''): Promise<string> {
  const binary = findGit();
  if (binary === undefined) throw new SkillError('USAGE', 'there is no git on this machine', { hint: NO_REPOSITORY });
  const options = {
    cwd,
    env: { ...gitEnvironment(binary), ...env },
    extendEnv: false,
    stripFinalNewline: false,
    input,
  };
  const { stdout, stderr, failed } = await execa(binary, [...QUIET_GIT, ...args], { ...options, reject: false });
  if (!failed) return stdout;
  throw new SkillError('USAGE', `git ${args[0]} failed: ${oneLine(stderr)}`, { hint });
}
