import { constants } from 'node:fs';
import { mkdir, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import type { FileChange, Sandbox, WorkspaceDiff, WorkspaceView } from '../../core/contracts/index.ts';
import { copyTree, fileHash } from '../folders/folder-files.ts';
import { openRolloutFolder, type RolloutFolder } from '../folders/rollout-folder.ts';
import { canMount } from '../sandbox/launcher.ts';
import { type Compared, compareOverlay, compareTrees, type Difference, type FoundPath } from './compare-trees.ts';
import type { Template } from './template.ts';

/** A folder of one rollout, which begins as its template. Disposing removes it, soon after. */
export type Workspace = AsyncDisposable & {
  readonly view: WorkspaceView;
  /** What has changed in it. Nothing may run in it meanwhile. */
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
  return { changes, leftOut: [...leftOut, ...(more > 0 ? [`${more} more changes`] : [])] };
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
