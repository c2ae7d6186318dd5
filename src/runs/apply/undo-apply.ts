import { dirname } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import { backupPath, readDocument, undo } from '../../skills/index.ts';
import type { LoadedRun } from '../load-run.ts';
import { newUndoId, standingChanges } from './applied-changes.ts';

export type Undone = {
  readonly path: string;
  readonly realPath: string;
  /** Byte for byte as before, gone since applying had made it, or back already by other hands. */
  readonly how: 'restored' | 'removed' | 'already';
};

type UndoOptions = { readonly journalFolder: string; readonly isMeant?: (path: string) => boolean };

/** Takes the last change back that was made of a run; undefined when none stands. Refuses a document that was edited since. */
export async function undoApply(
  { state }: LoadedRun,
  { journalFolder, isMeant = () => true }: UndoOptions,
): Promise<Undone | undefined> {
  const changes = await standingChanges(journalFolder, state);
  const last = changes.findLast(({ steps }) => steps.some(({ path, realPath }) => isMeant(path) || isMeant(realPath)));
  const step = last?.steps[0];
  if (last === undefined || step === undefined) return undefined;
  const { path, realPath } = step;
  const { digest } = await readDocument(path, [dirname(realPath)], realPath);
  if (digest === step.before) return { path, realPath, how: 'already' };
  if (digest !== step.after) throw editedSince(path, backupPath(journalFolder, last.id, step));
  await undo(last, { journalFolder, id: newUndoId(last) });
  return { path, realPath, how: step.before === null ? 'removed' : 'restored' };
}

function editedSince(path: string, backup: string | null): SkillError {
  const old =
    backup === null ? 'There was no file before.' : `What it was before is kept; compare: diff -u ${backup} ${path}`;
  const hint = `Nothing was written, so that your edits stay. ${old}`;
  return new SkillError('DOCUMENT_REFUSED', `${path} was edited since the skill was applied`, { hint });
}
