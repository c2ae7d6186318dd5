import { basename, dirname } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { backupPath, type Receipt, readDocument, undo } from '../../skills/index.ts';
import type { LoadedRun } from '../load-run.ts';
import { isMadeFrom, newUndoId, standingChanges } from './applied-changes.ts';

export type Undone = {
  readonly path: string;
  readonly realPath: string;
  /** Byte for byte as before, gone since applying had made it, or back already by other hands. */
  readonly how: 'restored' | 'removed' | 'already';
  /** Of a package: how many files were changed together. */
  readonly files: number;
};

/** The document that a run was applied to from another folder: it was copied or moved since. */
export type MadeElsewhere = { readonly madeElsewhere: string };

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
  const hint = `Nothing was written, so that your edits stay. ${old}`;
  return new SkillError('DOCUMENT_REFUSED', `${path} was edited since the skill was applied`, { hint });
}
