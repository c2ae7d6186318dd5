import { execFile } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { execa } from 'execa';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine } from '../../core/text/index.ts';
import { type Caller, type LoadedProject, resolvePath } from '../../project/index.ts';
import { skillFileAt } from '../../skills/index.ts';
import { findGit, gitEnvironment, QUIET_GIT } from '../../workspaces/index.ts';
import { type Subject, wireDocument } from './score.ts';

const GIT = 'git:';

type Baseline = AsyncDisposable & {
  /** Nothing, where the document is new. */
  readonly subject: Subject | undefined;
};

/** What a document is compared with: another one (a path), or an earlier version of itself (`git:REVISION`). */
export async function openBaseline(
  loaded: LoadedProject,
  { document }: Subject,
  { baseline, cwd, notices }: { readonly baseline: string | undefined; readonly cwd: string } & Pick<Caller, 'notices'>,
): Promise<Baseline> {
  const nothing = async () => {};
  if (baseline === undefined) return { subject: undefined, [Symbol.asyncDispose]: nothing };
  if (!baseline.startsWith(GIT)) {
    const subject = await wireDocument(loaded, resolvePath(cwd, baseline), baseline);
    return { subject, [Symbol.asyncDispose]: nothing };
  }
  const revision = baseline.slice(GIT.length);
  const version = await gitVersion(await skillFileAt(resolvePath(cwd, document)), revision);
  if (version.path === undefined)
    notices?.note(`${document} is not in ${revision}: there is nothing to compare it with`);
  const subject = version.path === undefined ? undefined : await wireDocument(loaded, version.path, baseline);
  return { subject, [Symbol.asyncDispose]: () => version[Symbol.asyncDispose]() };
}

/** A file as it was at a revision, in a folder of its own. `await using` removes it. */
type GitVersion = AsyncDisposable & {
  /** Nothing where the revision has no such file. */
  readonly path: string | undefined;
};

/**
 * A document at a revision of the repository around it; a SKILL.md with its whole folder, since it may refer to what is there.
 * Neither the working tree nor the index is touched.
 */
async function gitVersion(file: string, revision: string): Promise<GitVersion> {
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
  const top = (await runGit(['rev-parse', '--show-toplevel'], dirname(file), NO_REPOSITORY)).trim();
  const commit = (
    await runGit(['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`], top, NO_REVISION)
  ).trim();
  const name = relative(await realpath(top), file)
    .split(sep)
    .join('/');
  const env = { GIT_INDEX_FILE: join(folder, 'index') };
  await runGit(['read-tree', commit], top, NO_REVISION, env);
  const wanted = basename(name).toLowerCase() === 'skill.md' && name.includes('/') ? `${dirname(name)}/` : name;
  const names = (await runGit(['ls-files', '-z', '--', `:(literal)${wanted}`], top, NO_REVISION, env)).split('\0');
  if (!names.includes(name)) return undefined;
  const prefix = `${join(folder, 'tree')}/`;
  await runGit(['checkout-index', '-z', '--stdin', `--prefix=${prefix}`], top, NO_REVISION, env, names.join('\0'));
  return join(prefix, name);
}

const NO_REPOSITORY = 'Give the path of the older document as the baseline instead.';
const NO_REVISION =
  'Name a branch, tag or commit that is here. In a shallow clone of a workflow: actions/checkout with fetch-depth: 0.';

async function runGit(
  args: readonly string[],
  cwd: string,
  hint: string,
  env: object = {},
  input = '',
): Promise<string> {
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
