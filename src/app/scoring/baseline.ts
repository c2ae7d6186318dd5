import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine } from '../../core/text/index.ts';
import { type Caller, type LoadedProject, resolvePath } from '../../project/index.ts';
import { skillFileAt } from '../../skills/index.ts';
import { findGit, gitEnvironment, QUIET_GIT } from '../../workspaces/index.ts';
import { type Subject, wireDocument } from './score.ts';

const GIT = 'git:';

type Wanted = Pick<Caller, 'notices'> & { readonly baseline: string | undefined; readonly cwd: string };
type OpenBaseline = AsyncDisposable & { readonly subject: Subject | undefined };

/** What a document is compared with: another one (a path), or an earlier version of itself (`git:REVISION`), if it is not new. */
export async function openBaseline(
  loaded: LoadedProject,
  { document }: Subject,
  wanted: Wanted,
): Promise<OpenBaseline> {
  const { baseline, cwd, notices } = wanted;
  const nothing = async () => {};
  if (baseline === undefined) return { subject: undefined, [Symbol.asyncDispose]: nothing };
  if (!baseline.startsWith(GIT)) {
    const subject = await wireDocument(loaded, resolvePath(cwd, baseline), baseline);
    return { subject, [Symbol.asyncDispose]: nothing };
  }
  const revision = baseline.slice(GIT.length);
  const file = await realpath(await skillFileAt(resolvePath(cwd, document)));
  const folder = await mkdtemp(join(tmpdir(), 'skillopt-git-'));
  const dispose = () => rm(folder, { recursive: true, force: true });
  try {
    const path = await checkOut(file, revision, folder);
    if (path === undefined) notices?.note(`${document} is not in ${revision}: there is nothing to compare it with`);
    const subject = path === undefined ? undefined : await wireDocument(loaded, path, baseline);
    return { subject, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/**
 * A document at a revision of the repository around it; a SKILL.md with its whole folder, because it may refer to files there.
 * Undefined if the revision has no such file. Neither the working tree nor the index is touched.
 */
async function checkOut(file: string, revision: string, folder: string): Promise<string | undefined> {
  const top = (await runGit(['rev-parse', '--show-toplevel'], { cwd: dirname(file), hint: NO_REPOSITORY })).trim();
  const git = (args: readonly string[], input = '') => {
    const env = { GIT_INDEX_FILE: join(folder, 'index') };
    return runGit(args, { cwd: top, hint: NO_REVISION, env, input });
  };
  const commit = (await git(['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`])).trim();
  const name = relative(await realpath(top), file)
    .split(sep)
    .join('/');
  await git(['read-tree', commit]);
  const wanted = basename(name).toLowerCase() === 'skill.md' && name.includes('/') ? `${dirname(name)}/` : name;
  const names = (await git(['ls-files', '-z', '--', `:(literal)${wanted}`])).split('\0');
  if (!names.includes(name)) return undefined;
  const prefix = `${join(folder, 'tree')}/`;
  await git(['checkout-index', '-z', '--stdin', `--prefix=${prefix}`], names.join('\0'));
  return join(prefix, name);
}

const NO_REPOSITORY = 'Give the path of the older document as the baseline instead.';
const NO_REVISION =
  'Name a branch, tag or commit that is here. In a shallow clone of a workflow: actions/checkout with fetch-depth: 0.';

type GitOptions = { readonly cwd: string; readonly hint: string; readonly env?: object; readonly input?: string };

async function runGit(args: readonly string[], { cwd, hint, env, input = '' }: GitOptions): Promise<string> {
  const binary = findGit();
  if (binary === undefined) throw new SkillError('USAGE', 'there is no git on this machine', { hint: NO_REPOSITORY });
  const { execa } = await import('execa');
  const { stdout, stderr, failed } = await execa(binary, [...QUIET_GIT, ...args], {
    ...{ cwd, input, env: { ...gitEnvironment(binary), ...env } },
    ...{ extendEnv: false, stripFinalNewline: false, reject: false },
  });
  if (!failed) return stdout;
  throw new SkillError('USAGE', `git ${args[0]} failed: ${oneLine(stderr)}`, { hint });
}

/** `changes`: files with changes that are not committed, new ones included. */
export type GitState = { readonly changes: number };

/** The state of the working tree around a file; undefined without a tree or without git. Changes nothing. */
export async function gitState(path: string): Promise<GitState | undefined> {
  const git = findGit();
  if (git === undefined) return undefined;
  const args = [...QUIET_GIT, 'status', '--porcelain', '--untracked-files=normal'];
  const env = { ...gitEnvironment(git), GIT_OPTIONAL_LOCKS: '0' };
  const options = { cwd: dirname(path), env, extendEnv: false, timeout: 5000, maxBuffer: 2 ** 24 };
  const { execa } = await import('execa');
  const { stdout, failed } = await execa(git, args, { ...options, reject: false });
  if (failed) return undefined; // no repository, one of another user, or too large for this time
  return { changes: stdout.split('\n').filter((line) => line !== '').length };
}
