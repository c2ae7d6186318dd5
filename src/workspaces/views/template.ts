import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Sandbox, type SandboxRequest, SkillError } from '../../core/contracts/index.ts';
import { copyTree, isHistory, layFiles, manifestHash, pathsIn, requirePlainPath } from '../folders/folder-files.ts';
import { defaultRoot, moveAside, openRolloutFolder, removeTree } from '../folders/rollout-folder.ts';

/** The folder that workspaces begin from. Nobody changes it. */
export type Template = { readonly key: string; readonly path: string };

export type TemplateOptions = {
  /** Where setup and version control run. */
  readonly sandbox: Sandbox;
  /** Where templates and rollouts lie; otherwise below the system's folder for temporary files. */
  readonly root?: string | undefined;
  /** A folder to begin with. */
  readonly source?: string | undefined;
  /** Laid over it, by path. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  readonly binaries?: Readonly<Record<string, Uint8Array>> | undefined;
  /** Run in it once. */
  readonly setup?: Setup | undefined;
  /** Otherwise the history of the source is left out: it can show how a task was once solved. */
  readonly keepHistory?: boolean | undefined;
  /** Whether it is a repository with one commit. Default: whether the source is one. */
  readonly git?: boolean | undefined;
};

export type Setup = Pick<SandboxRequest, 'env' | 'mounts' | 'network' | 'limits'> & {
  readonly command: readonly string[];
  readonly timeoutMs: number;
};

const opening = new Map<string, Promise<Template>>();

/** Made once for the same content, also across processes. */
export async function openTemplate(options: TemplateOptions): Promise<Template> {
  for (const path of Object.keys({ ...options.files, ...options.binaries })) requirePlainPath(path);
  const root = options.root ?? (await defaultRoot());
  const key = await keyOf(options);
  const id = join(root, key);
  if (!opening.has(id)) {
    const opened = keepFolder(root, key, options).then((path) => ({ key, path }));
    opening.set(id, opened);
    opened.catch(() => opening.delete(id));
  }
  return opening.get(id)!;
}

/** Raised when templates are made differently. */
const FORMAT = 2;

async function keyOf({ source, files = {}, binaries = {}, setup, keepHistory = false, git, sandbox }: TemplateOptions) {
  const hash = createHash('sha256');
  const sorted = Object.entries(files).sort();
  hash.update(JSON.stringify([FORMAT, sorted, setup ?? null, setup && sandbox.id, keepHistory, git ?? null]));
  if (source !== undefined) hash.update(`${isRepository(source)}${await manifestHash(source, { keepHistory })}`);
  for (const [path, bytes] of Object.entries(binaries).sort())
    hash.update(`\0${path}\0${bytes.length}\0`).update(bytes);
  return hash.digest('hex').slice(0, 32);
}

const isRepository = (folder: string) => existsSync(join(folder, '.git'));

async function furnish(path: string, options: TemplateOptions): Promise<void> {
  const { source, files = {}, binaries = {}, setup, keepHistory = false, sandbox } = options;
  if (source !== undefined) await copySource(source, path, keepHistory);
  await layFiles({ folder: path }, { ...files, ...binaries });
  const wantsCommit = options.git ?? (source !== undefined && isRepository(source));
  const isFresh = wantsCommit && !isRepository(path);
  if (isFresh) await runGit(path, sandbox, ['init', '--quiet', '--template=', '--initial-branch=main']);
  if (setup) await runSetup(path, setup, sandbox);
  if (!isFresh) return;
  await runGit(path, sandbox, ['add', '--all']);
  await runGit(path, sandbox, ['commit', '--quiet', '--allow-empty', '--message', 'Begin']);
}

async function copySource(source: string, path: string, keepHistory: boolean): Promise<void> {
  if (keepHistory) await requireOwnHistory(source);
  await copyTree(source, path);
  if (keepHistory) return;
  const histories = (await pathsIn(path)).filter((one) => isHistory(one));
  const tops = histories.filter((one) => !isHistory(dirname(one)));
  for (const one of tops) await removeTree(join(path, one));
}

/** In a worktree or a submodule `.git` is a file that names another folder, which would not be in the copy. */
async function requireOwnHistory(source: string): Promise<void> {
  const there = await lstat(join(source, '.git')).catch(() => undefined);
  if (!there?.isFile()) return;
  throw new SkillError('CONFIG_INVALID', `the history of ${source} lies elsewhere, and cannot be kept in a copy`, {
    hint: 'Name a clone of it, or leave its history out: keepHistory: false.',
  });
}

async function runSetup(path: string, setup: Setup, sandbox: Sandbox): Promise<void> {
  const { exitCode, timedOut, exceeded, stdout, stderr } = await sandbox.run({ ...setup, workspace: { path } });
  if (exitCode === 0) return;
  const ending = exceeded ? `ran into its limit ${exceeded}` : `ended with ${exitCode}`;
  const why = timedOut ? `took more than ${setup.timeoutMs} ms` : ending;
  const said = (stderr.trim() || stdout.trim()).slice(-500);
  throw new SkillError('ENV_FAILED', `the setup of a workspace (${setup.command.join(' ')}) ${why}: ${said}`, {
    hint: 'Run it by hand in a copy of the folder. A setup that downloads needs network: open.',
  });
}

/** Folders are kept here from run to run, each by the hash of what it was made of. */
const KEPT = 'templates';

const MAX_UNUSED_MS = 30 * 24 * 3_600_000;

/** The folder of this key, made where there is none, and again where it has changed: other programs clean up temporary files. */
async function keepFolder(root: string, key: string, options: TemplateOptions): Promise<string> {
  const kept = join(root, KEPT, key);
  if (await isWhole(kept)) return filesIn(kept);
  if (existsSync(kept)) await removeKept(root, key);
  await using folder = await openRolloutFolder(root);
  const fresh = join(folder.path, 'kept');
  await mkdir(filesIn(fresh), { recursive: true });
  await furnish(filesIn(fresh), options);
  await writeFile(manifestOf(fresh), await hashOf(fresh));
  await mkdir(dirname(kept), { recursive: true });
  await rename(fresh, kept).catch((error) => {
    if (!existsSync(kept)) throw error; // otherwise another process was faster
  });
  return filesIn(kept);
}

const filesIn = (kept: string) => join(kept, 'files');
const manifestOf = (kept: string) => join(kept, 'manifest');
const hashOf = (kept: string) => manifestHash(filesIn(kept), { keepHistory: true });

/** Checked once by each process. The time of the manifest says when it was last used. */
async function isWhole(kept: string): Promise<boolean> {
  const expected = await readFile(manifestOf(kept), 'utf8').catch(() => undefined);
  if (expected === undefined || expected !== (await hashOf(kept).catch(() => ''))) return false;
  await utimes(manifestOf(kept), new Date(), new Date()).catch(() => {});
  return true;
}

/** Removes templates that nobody has used for a month. */
export async function removeUnused(root: string): Promise<void> {
  for (const key of await readdir(join(root, KEPT)).catch(() => [])) {
    const asked = await stat(manifestOf(join(root, KEPT, key))).catch(() => undefined);
    if (asked === undefined || asked.mtimeMs < Date.now() - MAX_UNUSED_MS) await removeKept(root, key);
  }
}

async function removeKept(root: string, key: string): Promise<void> {
  const aside = await moveAside(join(root, KEPT, key), root);
  if (aside !== undefined) await removeTree(aside);
}

/** Makes the same commit everywhere and always, without the user's own settings. */
const GIT_VARIABLES = {
  GIT_AUTHOR_NAME: 'skillopt',
  GIT_AUTHOR_EMAIL: 'skillopt@localhost',
  GIT_AUTHOR_DATE: '2020-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'skillopt',
  GIT_COMMITTER_EMAIL: 'skillopt@localhost',
  GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
} as const;

const QUIET = ['core.hooksPath=/dev/null', 'commit.gpgsign=false', 'gc.auto=0', 'safe.directory=*'].flatMap(
  (setting) => ['-c', setting],
);

/** In the sandbox, like all that runs after a setup: what a setup left there can make git start programs. */
async function runGit(path: string, sandbox: Sandbox, args: readonly string[]): Promise<void> {
  const request = { command: ['git', ...QUIET, ...args], workspace: { path }, env: GIT_VARIABLES, timeoutMs: 300_000 };
  const { exitCode, stderr } = await sandbox.run(request);
  if (exitCode === 0) return;
  throw new SkillError('ENV_FAILED', `git ${args[0]} failed in a template of workspaces: ${stderr.slice(-500)}`, {
    hint: 'Install git where the sandbox sees it, or begin from a folder that is no repository.',
  });
}
