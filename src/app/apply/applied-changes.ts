import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import type { RunState } from '../../core/run/index.ts';
import { digestOf, type Receipt, readReceipt } from '../../skills/index.ts';

type Began = Pick<RunState, 'startedAt' | 'initialSkill'>;

/** A run is known by when it began and from what: its folder may be moved. */
const keyOf = ({ startedAt, initialSkill }: Began) =>
  digestOf(Buffer.from(JSON.stringify([startedAt, initialSkill]))).slice(0, 20);

type Run = { readonly path: string; readonly state: Began };

const folderKey = (path: string) => `@${digestOf(Buffer.from(path)).slice(0, 10)}-`;

/** Says in its name from which folder of the run it was made: a copy of a run is not the one that was applied. */
export const newChangeId = ({ path, state }: Run) => `${keyOf(state)}-${folderKey(path)}${randomUUID()}`;

/** Whether a change was made from this folder of a run. Those of earlier versions do not say. */
export const isMadeFrom = (path: string, { id }: Pick<Receipt, 'id'>): boolean =>
  !id.includes('-@') || id.includes(`-${folderKey(path)}`);

const UNDO = '.undo-';
export const newUndoId = ({ id }: Pick<Receipt, 'id'>) => `${id}${UNDO}${randomUUID()}`;

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
