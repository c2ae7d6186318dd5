import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import type { FileChange, Sandbox, WorkspaceDiff, WorkspaceView } from '../../core/contracts/index.ts';
import { maskKeysIn } from '../../core/guard/index.ts';
import { copyTree, fileHash } from '../folders/folder-files.ts';
import { openRolloutFolder, type RolloutFolder } from '../folders/rollout-folder.ts';
import { canMount, launched } from '../sandbox/launcher.ts';
import type { Template } from './template.ts';

/** A folder of one rollout, which begins as its template. Disposing removes it, soon after. */
export type Workspace = AsyncDisposable & {
  readonly view: WorkspaceView;
  /** What has changed in it, without keys of ours. Nothing may run in it meanwhile. */
  diff(): Promise<WorkspaceDiff>;
};

export type WorkspaceOptions = {
  readonly template: Template;
  readonly sandbox: Sandbox;
  readonly root?: string | undefined;
};

/** A view of the template that keeps changes apart, where the sandbox can show one; otherwise a copy. */
export async function openWorkspace({ template, sandbox, root }: WorkspaceOptions): Promise<Workspace> {
  const takesOverlays = canMount(template.path) && (await sandbox.takesOverlays(root));
  const folder = await openRolloutFolder(root);
  const view = takesOverlays ? await overlayIn(folder, template) : await copyIn(folder, template);
  return {
    view,
    diff: async () =>
      describeChanges(view.overlay ? await compareOverlay(view) : await compareTrees(template.path, view.path)),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

async function overlayIn({ path }: RolloutFolder, template: Template): Promise<WorkspaceView> {
  const below = (name: string) => join(path, name);
  await Promise.all(['view', 'upper', 'scratch'].map((name) => mkdir(below(name))));
  return { path: below('view'), overlay: { lower: template.path, upper: below('upper'), scratch: below('scratch') } };
}

async function copyIn({ path }: RolloutFolder, template: Template): Promise<WorkspaceView> {
  await copyTree(template.path, join(path, 'workspace'));
  return { path: join(path, 'workspace') };
}

/** As much as a person or a model can be asked to read. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_PATCH_CHARACTERS = 2 * 1024 * 1024;
const MAX_CHANGES = 2_000;

/** Hashing more takes too long. */
const MAX_HASHED_BYTES = 256 * 1024 * 1024;

/** Changes by path, as far as there is room for them. */
async function describeChanges({ differences, leftOut }: Compared): Promise<WorkspaceDiff> {
  const sorted = [...differences].sort((one, other) => (one.path < other.path ? -1 : 1));
  const changes: FileChange[] = [];
  let room = MAX_PATCH_CHARACTERS;
  for (const difference of sorted.slice(0, MAX_CHANGES)) {
    const change = await describeChange(difference);
    const length = change.patch?.length ?? 0;
    if (length <= room) {
      room -= length;
      changes.push(change);
    } else {
      const note = `${length} characters of changes, with which the whole would be too long`;
      changes.push({ path: change.path, change: change.change, note });
    }
  }
  const more = sorted.length - changes.length;
  return maskKeysIn({ changes, leftOut: [...leftOut, ...(more > 0 ? [`${more} more changes`] : [])] });
}

async function describeChange({ path, before, after }: Difference): Promise<FileChange> {
  const change = before === undefined ? 'added' : after === undefined ? 'deleted' : 'changed';
  const [was, is] = await Promise.all([before && contentOf(before), after && contentOf(after)]);
  const note = [noteOf(was, is), modeNote(before, after)].filter(Boolean).join('; ');
  const [from, to] = [was ? was.text : '', is ? is.text : ''];
  const patch = from === undefined || to === undefined || from === to ? undefined : patchOf(path, from, to);
  return { path, change, ...(patch === undefined ? {} : { patch }), ...(note === '' ? {} : { note }) };
}

/** Either a text, or a note in its place; of a link, both. */
type Content = { readonly text?: string; readonly note?: string };

function noteOf(was: Content | undefined, is: Content | undefined): string {
  if (was?.note === is?.note) return is?.note ?? '';
  return [is?.note, was?.note && is ? `before: ${was.note}` : was?.note].filter(Boolean).join(', ');
}

function modeNote(before: FoundPath | undefined, after: FoundPath | undefined): string {
  if (!before?.stats.isFile() || !after?.stats.isFile()) return '';
  const [was, is] = [before, after].map(({ stats }) => (stats.mode & 0o111) !== 0);
  if (was === is) return '';
  return is ? 'can be run now' : 'can no longer be run';
}

/** Pipes and devices are never opened: reading one may wait for ever, or worse. */
async function contentOf({ path, stats }: FoundPath): Promise<Content> {
  if (stats.isSymbolicLink()) return { text: `${await readlink(path)}\n`, note: 'a link' };
  if (!stats.isFile()) return { note: stats.isFIFO() ? 'a pipe' : stats.isSocket() ? 'a socket' : 'a device' };
  if (stats.size > MAX_FILE_BYTES) return { note: `too long to show, ${await hashNote(path, stats.size)}` };
  const bytes = await readPlain(path).catch(() => undefined);
  if (bytes === undefined) return { note: 'cannot be read' };
  const text = bytes.toString('utf8');
  const isText = !bytes.includes(0) && Buffer.from(text, 'utf8').equals(bytes);
  return isText ? { text } : { note: `binary, ${await hashNote(path, stats.size)}` };
}

async function readPlain(path: string): Promise<Buffer> {
  await using file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  return file.readFile();
}

async function hashNote(path: string, size: number): Promise<string> {
  const hash = size > MAX_HASHED_BYTES ? undefined : await fileHash(path).catch(() => undefined);
  return `${size} bytes${hash === undefined ? '' : `, sha256 ${hash}`}`;
}

/** More edits than this take minutes to find. */
const MAX_EDITS = 1_000;

/** Texts with little in common are shown one after the other. */
function patchOf(path: string, before: string, after: string): string {
  const [from, to] = [`a/${path}`, `b/${path}`];
  const [old, young] = [before.split('\n'), after.split('\n')];
  const isHopeless = Math.abs(old.length - young.length) > MAX_EDITS;
  const options = { maxEditLength: MAX_EDITS };
  const patch = isHopeless ? undefined : createTwoFilesPatch(from, to, before, after, undefined, undefined, options);
  if (patch !== undefined) return patch.replace(/^=+\n/, '');
  const marked = (sign: string, lines: readonly string[], text: string) =>
    text === '' ? [] : lines.map((line) => `${sign}${line}`);
  return [`--- ${from}`, `+++ ${to}`, ...marked('-', old, before), ...marked('+', young, after), ''].join('\n');
}

/** What changed from one folder to its copy. */
async function compareTrees(before: string, after: string): Promise<Compared> {
  const { differences, leftOut } = await compareFolders(before, after, { isOverlay: false });
  return { differences, leftOut };
}

/** What changed in a view: all in its upper folder, and what folders that were made again hide of the lower one. */
async function compareOverlay(view: WorkspaceView): Promise<Compared> {
  const { lower, upper } = view.overlay!;
  const { differences, leftOut, inBoth } = await compareFolders(lower, upper, { isOverlay: true });
  for (const path of await hiddenIn(view, inBoth)) {
    differences.push(...(await differencesOf({ path, before: await find(join(lower, path)) }, leftOut)));
  }
  return { differences, leftOut: [...new Set(leftOut)] };
}

/** Of a view only the upper folder is listed: what is not in it has not changed. */
async function compareFolders(before: string, after: string, { isOverlay }: { readonly isOverlay: boolean }) {
  const differences: Difference[] = [];
  const leftOut: string[] = [];
  const inBoth: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    const roots = isOverlay ? [after] : [before, after];
    const names = await Promise.all(roots.map((root) => namesIn(join(root, folder), folder || '.', leftOut)));
    for (const name of [...new Set(names.flat())].sort())
      await compare(name, folder === '' ? name : `${folder}/${name}`);
  };
  const compare = async (name: string, path: string) => {
    const [was, there] = await Promise.all([find(join(before, path)), find(join(after, path))]);
    const is = isOverlay && there && isWhiteout(there) ? undefined : there;
    if (isLeftOut(name, was) || isLeftOut(name, is)) leftOut.push(leftOutNote(path));
    else if (!there && (isOverlay || !was)) leftOut.push(`${path}: its name cannot be read`);
    else if (was?.stats.isDirectory() && is?.stats.isDirectory()) {
      inBoth.push(path);
      await walk(path);
    } else differences.push(...(await differencesOf({ path, before: was, after: is }, leftOut)));
  };
  await walk('');
  return { differences, leftOut, inBoth };
}

/** How a view marks what was removed from it. */
const isWhiteout = ({ stats }: FoundPath) => stats.isCharacterDevice() && stats.rdev === 0;

/**
 * What is in the lower one of these folders, and neither in the upper one nor visible. Whether a folder hides the one below it
 * is an attribute that we cannot read, so the view is mounted and listed.
 */
async function hiddenIn(view: WorkspaceView, folders: readonly string[]): Promise<string[]> {
  const { lower, upper } = view.overlay!;
  const rows = await Promise.all(
    folders.map(async (folder) => {
      const above = new Set(await namesIn(join(upper, folder), folder, []));
      const below = await namesIn(join(lower, folder), folder, []);
      return below.filter((name) => !above.has(name)).map((name) => `${folder}/${name}`);
    }),
  );
  const belowOnly = rows.flat();
  if (belowOnly.length === 0) return [];
  const seen = await namesSeen(view, folders);
  return belowOnly.filter((path) => !seen.has(path));
}

const LIST = `cd "$0" && exec xargs -0 sh -c 'exec find "$@" -mindepth 1 -maxdepth 1 -print0' sh`;

async function namesSeen(workspace: WorkspaceView, folders: readonly string[]): Promise<ReadonlySet<string>> {
  const [file = '', ...args] = launched(['/bin/sh', '-c', LIST, workspace.path], { workspace });
  const input = folders.map((folder) => `./${folder}`).join('\0');
  const { execa } = await import('execa');
  const { stdout } = await execa(file, args, { input, maxBuffer: 256 * 1024 * 1024 });
  return new Set(stdout.split('\0').map((path) => path.slice('./'.length)));
}

/** A path on disk and what was there. Links are not followed. */
type FoundPath = { readonly path: string; readonly stats: Stats };

/** One file, link or other path that has changed. */
type Difference = {
  readonly path: string;
  readonly before?: FoundPath | undefined;
  readonly after?: FoundPath | undefined;
};

type Compared = { readonly differences: readonly Difference[]; readonly leftOut: readonly string[] };

/** Installed packages and caches, which programs can make again, and version control, which has its own record. */
const LEFT_OUT = new Set([
  ...['.git', 'node_modules', '__pycache__', '.venv', '.tox', '.cache', '.gradle'],
  ...['.pytest_cache', '.mypy_cache', '.ruff_cache', '.npm'],
]);

const isLeftOut = (name: string, found: FoundPath | undefined) =>
  LEFT_OUT.has(name) && found?.stats.isDirectory() === true;

const leftOutNote = (path: string) => `${path}/: not looked into`;

async function find(path: string): Promise<FoundPath | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  return stats && { path, stats };
}

/** Sorted. A folder that cannot be read counts as empty, and is noted. */
async function namesIn(folder: string, shown: string, leftOut: string[]): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') leftOut.push(`${shown}/: cannot be read (${code})`);
    return [];
  }
}

/** The path itself, or all files below it. Empty folders do not count, as in git. */
async function filesOf(found: FoundPath | undefined, path: string, leftOut: string[]): Promise<[string, FoundPath][]> {
  if (found === undefined) return [];
  if (!found.stats.isDirectory()) return [[path, found]];
  const files: [string, FoundPath][] = [];
  for (const name of await namesIn(found.path, path, leftOut)) {
    const [inner, below] = [await find(join(found.path, name)), `${path}/${name}`];
    if (isLeftOut(name, inner)) leftOut.push(leftOutNote(below));
    else files.push(...(await filesOf(inner, below, leftOut)));
  }
  return files;
}

/** The differences of a path where not both sides are folders. */
async function differencesOf({ path, before, after }: Difference, leftOut: string[]): Promise<Difference[]> {
  if (await isSame(before, after)) return [];
  if (before && after && !before.stats.isDirectory() && !after.stats.isDirectory()) return [{ path, before, after }];
  const gone = await filesOf(before, path, leftOut);
  const come = await filesOf(after, path, leftOut);
  return [
    ...gone.map(([at, found]) => ({ path: at, before: found })),
    ...come.map(([at, found]) => ({ path: at, after: found })),
  ];
}

/** Compares contents: anyone can set times. */
async function isSame(before: FoundPath | undefined, after: FoundPath | undefined): Promise<boolean> {
  if (before === undefined || after === undefined) return before === after;
  const [one, other] = [before.stats, after.stats];
  if ((one.mode & 0o170111) !== (other.mode & 0o170111)) return false;
  if (one.isSymbolicLink()) return (await readlink(before.path)) === (await readlink(after.path));
  if (!one.isFile()) return true;
  return one.size === other.size && (await haveSameBytes(before.path, after.path));
}

const CHUNK = 256 * 1024;

async function haveSameBytes(one: string, other: string): Promise<boolean> {
  const files = await Promise.all([open(one), open(other)]).catch(() => undefined);
  if (files === undefined) return false; // one of them may not be read
  await using _one = files[0];
  await using _other = files[1];
  const [left, right] = [Buffer.alloc(CHUNK), Buffer.alloc(CHUNK)];
  for (;;) {
    const [{ bytesRead }, { bytesRead: others }] = await Promise.all([files[0].read(left), files[1].read(right)]);
    if (bytesRead !== others || !left.subarray(0, bytesRead).equals(right.subarray(0, bytesRead))) return false;
    if (bytesRead === 0) return true;
  }
}
