import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Sandbox, type SandboxRequest, SkillError } from '../../core/contracts/index.ts';
import { keepFolder } from '../folders/kept-folder.ts';
import { layFiles } from '../folders/lay-files.ts';
import { isHistory, manifestHash, pathsIn } from '../folders/manifest.ts';
import { defaultRoot, removeTree } from '../folders/rollout-folder.ts';
import { requirePlainPath } from '../folders/work-folder.ts';
import { copyTree } from './copy-tree.ts';
import { commitAll, initRepository } from './repository.ts';

/** What workspaces begin from. Nobody changes it. */
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
  /** Otherwise the history of the source is cut: it can tell how a task was once solved. */
  readonly keepHistory?: boolean | undefined;
  /** Whether it is a repository with one commit. Unless it is said: when the source is one. */
  readonly git?: boolean | undefined;
};

export type Setup = Pick<SandboxRequest, 'env' | 'mounts' | 'network' | 'limits'> & {
  readonly command: readonly string[];
  readonly timeoutMs: number;
};

const opening = new Map<string, Promise<Template>>();

/** Made once for the same content, whoever asks, also in other processes. */
export async function openTemplate(options: TemplateOptions): Promise<Template> {
  for (const path of Object.keys({ ...options.files, ...options.binaries })) requirePlainPath(path);
  const root = options.root ?? (await defaultRoot());
  const key = await keyOf(options);
  const id = join(root, key);
  if (!opening.has(id)) {
    const make = (path: string) => furnish(path, options);
    const opened = keepFolder({ root, key, make }).then((path) => ({ key, path }));
    opening.set(id, opened);
    opened.catch(() => opening.delete(id));
  }
  return opening.get(id)!;
}

/** How templates are made: raised when that changes. */
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
  if (isFresh) await initRepository(path, sandbox);
  if (setup) await runSetup(path, setup, sandbox);
  if (isFresh) await commitAll(path, sandbox);
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
  const why = timedOut
    ? `took more than ${setup.timeoutMs} ms`
    : exceeded
      ? `ran into its limit ${exceeded}`
      : `ended with ${exitCode}`;
  const said = (stderr.trim() || stdout.trim()).slice(-500);
  throw new SkillError('ENV_FAILED', `the setup of a workspace (${setup.command.join(' ')}) ${why}: ${said}`, {
    hint: 'Run it by hand in a copy of the folder. A setup that downloads needs network: open.',
  });
}
