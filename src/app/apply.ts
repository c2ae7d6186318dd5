import { randomUUID } from 'node:crypto';
import { readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { filesBehind, keepForm, keepLineEnds, partOf, SKILL_FILE, trainedForm } from '../core/document/index.ts';
import type { RunState } from '../core/run/index.ts';
import type { Environment } from '../project/index.ts';
import type { ApplyFigures } from '../report/index.ts';
import {
  backupPath,
  digestOf,
  type ReadDocument,
  type Receipt,
  type Replacement,
  readDocument,
  readReceipt,
  replaceFiles,
  skillFileAt,
  undo,
} from '../skills/index.ts';
import { APPLIED_FOLDER, isRunLocked, openStateFolder, shownPath, stateFolderOf } from '../stores/index.ts';
import type { LoadedRun } from './load-run.ts';

/**
 * `write`: the document can be written. `same`: it holds the text already. `unchanged`: training has changed nothing.
 * `changed`: somebody edited it since the run began. `missing`: it is gone, and no other path was given.
 */
type Standing = 'write' | 'same' | 'unchanged' | 'changed' | 'missing';

/** A file of a package besides SKILL.md, and what applying would make of it. */
type PlannedFile = ApplyFigures['others'][number] & { readonly document: ReadDocument };

/** What applying a run would do. */
export type ApplyPlan = Pick<ApplyFigures, 'before' | 'after'> & {
  readonly standing: Standing;
  readonly document: ReadDocument;
  /** Of a package: the files beside the document that would change. */
  readonly others: readonly PlannedFile[];
  /** The file that somebody edited, if `standing` says so. */
  readonly edited?: string | undefined;
};

export type ApplyOptions = {
  /** A path in place of the one that the skill was read from; a relative one is from the current folder. */
  readonly to?: string | undefined;
  /** Sees the change before it is written. Default: agrees to everything. */
  readonly agrees?: (plan: ApplyPlan) => Promise<boolean>;
};

/** `plan` is missing for a run that began from no file, when no path is given. */
export type AppliedRun = {
  readonly isApplied: boolean;
  readonly plan: ApplyPlan | undefined;
  /** Where the old bytes are; null where there was no file, or nothing was written. */
  readonly backup: string | null;
};

/** Puts what a run learned into the skill that it began from. Writes nothing if the document was edited since, or is gone. */
export async function applyRun(run: LoadedRun, journalFolder: string, options: ApplyOptions = {}): Promise<AppliedRun> {
  const { to, agrees = async () => true } = options;
  await refuseAtWork(run);
  const plan = await planApply(run, journalFolder, to);
  if (plan?.standing !== 'write' || !(await agrees(plan))) return { isApplied: false, plan, backup: null };
  const id = newChangeId(run);
  const roots = [dirname(plan.document.realPath)];
  const { steps } = await replaceFiles(replacementsOf(plan), { journalFolder, id, roots });
  return { isApplied: true, plan, backup: backupPath(journalFolder, id, steps[0]!) };
}

/** A training reads the skill again when it is resumed, and its best version may change at any moment. */
async function refuseAtWork({ path }: LoadedRun): Promise<void> {
  if (!(await isRunLocked(path))) return;
  const hint = `Wait until it ends, or stop it. The best version so far, to copy: ${join(shownPath(path), 'best_skill.md')}`;
  throw new SkillError('RUN_LOCKED', `${shownPath(path)} is being trained`, { hint });
}

/** Where old bytes are kept, for this user alone. `env` and `home` default to those of the process. */
export async function openAppliedFolder(user: { readonly env?: Environment; readonly home?: string } = {}) {
  const { env = process.env, home = env.HOME || homedir() } = user;
  return join(await openStateFolder(stateFolderOf({ env, home, platform: process.platform })), APPLIED_FOLDER);
}

async function planApply(run: LoadedRun, journalFolder: string, to?: string): Promise<ApplyPlan | undefined> {
  const { state } = run;
  const path = await documentPath(run, to);
  if (path === undefined) return undefined;
  const realFolder = dirname(await realpath(path).catch(() => path)); // a person who names a link means the file behind it
  const document = await readDocument(path, [realFolder]);
  const before = document.bytes === null ? '' : textOf(document.bytes, path);
  const [trained, initial] = [state.best.skill, state.initialSkill].map(
    (text) => filesBehind(text, state.config)[SKILL_FILE] ?? '',
  );
  const after = inFormOf(state, trained!, document.bytes === null ? initial! : before);
  const lastWritten = await writtenBefore(state, journalFolder);
  const others = await planFiles(state, document.realPath, lastWritten);
  const known = [state.skillSource?.digest, digestOf(Buffer.from(initial!)), lastWritten(document.realPath)];
  const isMissing = document.digest === null && to === undefined;
  const isOurs = document.digest === null || known.includes(document.digest);
  const isSame = document.digest === digestOf(Buffer.from(after));
  const own = isSame ? 'same' : isMissing ? 'missing' : isOurs ? 'write' : 'changed';
  const edited = own === 'changed' ? document.path : others.find((file) => file.standing === 'changed')?.document.path;
  return { standing: together(state, own, others), document, before, after, others, edited };
}

/** All or nothing: one edited file keeps the others from being written. */
function together({ best, initialSkill }: RunState, own: Standing, others: readonly PlannedFile[]): Standing {
  const all = [own, ...others.map(({ standing }) => standing)];
  if (all.every((standing) => standing === 'same')) return 'same';
  if (best.skill === initialSkill) return 'unchanged'; // «No change» of a finished run; a stopped or broken one may have no better skill either
  return all.find((standing) => standing === 'missing' || standing === 'changed') ?? 'write';
}

/** The document to write; undefined for a run that began from no file, when no path is given. */
export async function documentPath({ path, state }: LoadedRun, to: string | undefined): Promise<string | undefined> {
  const { skillSource } = state;
  if (to === undefined) return skillSource && resolve(path, skillSource.path);
  const file = await skillFileAt(resolve(to));
  return extname(file).toLowerCase() === '.md' ? file : join(file, 'SKILL.md');
}

function textOf(bytes: Buffer, path: string): string {
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  const hint = 'Save it as UTF-8, and train from it again; it is as it was.';
  throw new SkillError('DOCUMENT_REFUSED', `${path} is not UTF-8`, { hint });
}

/** The digest that this run last wrote to a path: a run may be resumed and applied again. */
type LastWritten = (realPath: string) => string | null | undefined;

async function writtenBefore(state: RunState, journalFolder: string): Promise<LastWritten> {
  const steps = (await standingChanges(journalFolder, state)).flatMap((change) => change.steps);
  return (realPath) => steps.findLast((step) => step.realPath === realPath)?.after;
}

function replacementsOf({ document, after, others }: ApplyPlan): Replacement[] {
  const isOwn = document.digest !== digestOf(Buffer.from(after));
  const own = { document, after, isAnyFile: false };
  const files = others.filter(({ standing }) => standing === 'write').map((file) => ({ ...file, isAnyFile: true }));
  return [...(isOwn ? [own] : []), ...files].map(({ document: { path, realPath, digest }, after: text, isAnyFile }) => {
    return { path, realPath, expected: digest, bytes: text === null ? null : Buffer.from(text), isAnyFile };
  });
}

/** A trained SKILL.md in the form of the one that it replaces. A trained description is kept. */
function inFormOf({ config }: RunState, text: string, document: string): string {
  if (!config?.parts?.includes('description')) return keepForm(text, document);
  const mark = document.startsWith('\uFEFF') ? '\uFEFF' : '';
  return mark + keepLineEnds(text.replace(/^\uFEFF/, ''), document);
}

/** Every other file that training changed, and those that a new folder lacks. */
async function planFiles(state: RunState, skillPath: string, lastWritten: LastWritten): Promise<PlannedFile[]> {
  const initial = filesBehind(state.initialSkill, state.config);
  const best = filesBehind(state.best.skill, state.config);
  const names = [...new Set([...Object.keys(initial), ...Object.keys(best)])].filter((name) => name !== SKILL_FILE);
  const folder = dirname(skillPath);
  const planned: PlannedFile[] = [];
  for (const name of names.sort()) {
    const document = await readDocument(join(folder, name), [folder], { isAnyFile: true });
    if (initial[name] === best[name] && document.bytes !== null) continue;
    const before = document.bytes?.toString('utf8') ?? null;
    const text = best[name];
    const after = text === undefined ? null : keepLineEnds(text, before ?? '');
    const isInitial = before === null || trainedForm(before) === initial[name];
    const isOurs = isInitial || lastWritten(document.realPath) === document.digest;
    const isSame = document.digest === (after === null ? null : digestOf(Buffer.from(after)));
    planned.push({ name, document, before, after, standing: isSame ? 'same' : isOurs ? 'write' : 'changed' });
  }
  return planned;
}

/** Scripts that would be written: agents run them, so a person should look at them first. */
export const scriptsIn = (files: readonly PlannedFile[]) =>
  files.filter(({ name, standing, after }) => standing === 'write' && after !== null && partOf(name) === 'scripts');

export type Undone = {
  readonly path: string;
  readonly realPath: string;
  /** Restored byte for byte, removed because applying had created it, or already as before. */
  readonly how: 'restored' | 'removed' | 'already';
  /** Of a package: how many files were changed together. */
  readonly files: number;
};

/** The document that a run was applied to from another folder: it was copied or moved since. */
type MadeElsewhere = { readonly madeElsewhere: string };

type UndoOptions = { readonly journalFolder: string; readonly meant?: string | undefined };

/**
 * Takes back the last change that was made from a run: of the document that is named, or else from where the run lies now.
 * Undefined when there is none. Refuses a document that was edited since.
 */
export async function undoApply(run: LoadedRun, options: UndoOptions): Promise<Undone | MadeElsewhere | undefined> {
  const { journalFolder, meant } = options;
  const changes = await standingChanges(journalFolder, run.state);
  const isMeant = (change: Receipt) =>
    meant === undefined
      ? isMadeFrom(run.path, change)
      : change.steps.some(({ path, realPath }) => path === meant || realPath === meant || isBeside(path, meant));
  const last = changes.findLast(isMeant);
  const step = last?.steps[0];
  if (last === undefined || step === undefined) {
    const other = meant === undefined ? changes.at(-1)?.steps[0] : undefined;
    return other && { madeElsewhere: other.path };
  }
  const { path, realPath } = step;
  const files = last.steps.length;
  const digests = await Promise.all(last.steps.map(digestNow));
  if (last.steps.every(({ before }, index) => digests[index] === before))
    return { path, realPath, how: 'already', files };
  const edited = last.steps.find(({ after }, index) => digests[index] !== after);
  if (edited) throw editedSince(edited.path, backupPath(journalFolder, last.id, edited));
  await undo(last, { journalFolder, id: `${last.id}${UNDO}${randomUUID()}` });
  return { path, realPath, how: step.before === null ? 'removed' : 'restored', files };
}

/** A package may have been changed without its SKILL.md. */
const isBeside = (path: string, meant: string) =>
  basename(meant).toLowerCase() === 'skill.md' && path.startsWith(`${dirname(meant)}/`);

const digestNow = async ({ path, realPath }: Receipt['steps'][number]): Promise<string | null> =>
  (await readDocument(path, [dirname(realPath)], { realPath, isAnyFile: true })).digest;

function editedSince(path: string, backup: string | null): SkillError {
  const old =
    backup === null ? 'There was no file before.' : `What it was before is kept; compare: diff -u ${backup} ${path}`;
  const hint = `Nothing was written, so your edits stay. ${old}`;
  return new SkillError('DOCUMENT_REFUSED', `${path} was edited since the skill was applied`, { hint });
}

type Beginning = Pick<RunState, 'startedAt' | 'initialSkill'>;

/** A run is known by when it began and from what: its folder may be moved. */
const keyOf = ({ startedAt, initialSkill }: Beginning) =>
  digestOf(Buffer.from(JSON.stringify([startedAt, initialSkill]))).slice(0, 20);

const folderKey = (path: string) => `@${digestOf(Buffer.from(path)).slice(0, 10)}-`;

/** Names the folder that the change was made from: a copy of a run is not the run that was applied. */
const newChangeId = ({ path, state }: LoadedRun) => `${keyOf(state)}-${folderKey(path)}${randomUUID()}`;

/** Whether a change was made from this folder of a run. Changes of earlier versions do not say. */
const isMadeFrom = (path: string, { id }: Receipt): boolean => !id.includes('-@') || id.includes(`-${folderKey(path)}`);

const UNDO = '.undo-';

/** What was written from a run and not undone since, the oldest first, by the receipts. */
async function standingChanges(journalFolder: string, run: Beginning): Promise<Receipt[]> {
  const names = (await readdir(journalFolder).catch(() => [])).filter((name) => name.startsWith(`${keyOf(run)}-`));
  const read = await Promise.all(names.map((name) => readReceipt(journalFolder, name)));
  const receipts = read.filter((receipt) => receipt !== undefined);
  const undone = new Set(receipts.flatMap(({ id }) => (id.includes(UNDO) ? [id.split(UNDO)[0]!] : [])));
  return receipts
    .filter(({ id }) => !id.includes(UNDO) && !undone.has(id))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
