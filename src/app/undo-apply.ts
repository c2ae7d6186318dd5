import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import type { RunState } from '../core/run/index.ts';
import { backupPath, digestOf, type Receipt, readDocument, readReceipt, undo } from '../skills/index.ts';
import type { LoadedRun } from './load-run.ts';

export type Undone = {
  readonly path: string;
  readonly realPath: string;
  /** Byte for byte as before, gone since applying had made it, or back already by other hands. */
  readonly how: 'restored' | 'removed' | 'already';
  /** Of a package: how many files were changed together. */
  readonly files: number;
};

/** The document that a run was applied to from another folder: it was copied or moved since. */
type MadeElsewhere = { readonly madeElsewhere: string };

type UndoOptions = {
  readonly journalFolder: string;
  /** The document that is meant, if one was named. */
  readonly meant?: string | undefined;
};

/**
 * Takes the last change back that was made of a run: of the document that is named, or else from where the run lies now.
 * Undefined when none stands. Refuses a document that was edited since.
 */
export async function undoApply(
  run: LoadedRun,
  { journalFolder, meant }: UndoOptions,
): Promise<Undone | MadeElsewhere | undefined> {
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
  await undo(last, { journalFolder, id: newUndoId(last) });
  return { path, realPath, how: step.before === null ? 'removed' : 'restored', files };
}

/** A package may have been changed without its SKILL.md. */
const isBeside = (path: string, meant: string) =>
  basename(meant).toLowerCase() === 'skill.md' && path.startsWith(`${dirname(meant)}/`);

async function digestNow({ path, realPath }: Receipt['steps'][number]): Promise<string | null> {
  return (await readDocument(path, [dirname(realPath)], { realPath, isAnyFile: true })).digest;
}

function editedSince(path: string, backup: string | null): SkillError {
  const old =
    backup === null ? 'There was no file before.' : `What it was before is kept; compare: diff -u ${backup} ${path}`;
  const hint = `Nothing was written, so your edits stay. ${old}`;
  return new SkillError('DOCUMENT_REFUSED', `${path} was edited since the skill was applied`, { hint });
}

type Began = Pick<RunState, 'startedAt' | 'initialSkill'>;

/** A run is known by when it began and from what: its folder may be moved. */
const keyOf = ({ startedAt, initialSkill }: Began) =>
  digestOf(Buffer.from(JSON.stringify([startedAt, initialSkill]))).slice(0, 20);

type Run = { readonly path: string; readonly state: Began };

const folderKey = (path: string) => `@${digestOf(Buffer.from(path)).slice(0, 10)}-`;

/** Says in its name from which folder of the run it was made: a copy of a run is not the one that was applied. */
export const newChangeId = ({ path, state }: Run) => `${keyOf(state)}-${folderKey(path)}${randomUUID()}`;

/** Whether a change was made from this folder of a run. Those of earlier versions do not say. */
const isMadeFrom = (path: string, { id }: Pick<Receipt, 'id'>): boolean =>
  !id.includes('-@') || id.includes(`-${folderKey(path)}`);

const UNDO = '.undo-';
const newUndoId = ({ id }: Pick<Receipt, 'id'>) => `${id}${UNDO}${randomUUID()}`;

/** What was written of a run and not undone since, the oldest first. The receipts are all that is kept of it. */
export async function standingChanges(journalFolder: string, run: Began): Promise<Receipt[]> {
  const names = (await readdir(journalFolder).catch(() => [])).filter((name) => name.startsWith(`${keyOf(run)}-`));
  const receipts = (await Promise.all(names.map((name) => readReceipt(journalFolder, name)))).filter(
    (receipt) => receipt !== undefined,
  );
  const undone = new Set(receipts.flatMap(({ id }) => (id.includes(UNDO) ? [id.split(UNDO)[0]!] : [])));
  return receipts
    .filter(({ id }) => !id.includes(UNDO) && !undone.has(id))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
