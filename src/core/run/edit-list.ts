import { isAccepted } from './reduce/acceptance.ts';
import { isUnscored } from './reduce/step.ts';
import type { RunState } from './run-state.ts';
import type { EditEffect, StepRecord } from './step-record.ts';

/** A selected edit, and what became of it. */
export type ListedEdit = StepRecord['edits'][number] & {
  readonly step: number;
  readonly status: StepRecord['editStatuses'][number] | 'skipped_over_cap';
  readonly fate: 'accepted' | 'removed' | 'rejected' | 'invalid' | 'skipped';
  /** Of an accepted edit: its own worth, as far as known. */
  readonly effect?: EditEffect;
};

/** Every edit that was selected in a run, in order: `skipped` did not fit the text, `invalid` gave no valid skill. */
export function listEdits({ history }: Pick<RunState, 'history'>): readonly ListedEdit[] {
  const edits = known.get(history) ?? editsOf(history);
  known.set(history, edits);
  return edits;
}

/** A report asks several times, and a long run has thousands of edits. */
const known = new WeakMap<RunState['history'], readonly ListedEdit[]>();

function editsOf(history: RunState['history']): ListedEdit[] {
  const removed = new Set(history.flatMap((record) => record.removed ?? []));
  return history.flatMap((record) =>
    (record.edits ?? []).map((edit, index) => {
      const status = record.editStatuses?.[index] ?? 'skipped_over_cap';
      const fate = fateOf(record, status, index);
      const isRemoved = fate === 'accepted' && removed.size > 0 && removed.has(edit.content.trim());
      const effect = record.editEffects?.[index];
      const worth = effect ? { effect } : {};
      return { ...edit, step: record.step, status, fate: isRemoved ? 'removed' : fate, ...worth };
    }),
  );
}

function fateOf(record: StepRecord, status: string, index: number): Exclude<ListedEdit['fate'], 'removed'> {
  const { action, salvagedEdits } = record;
  if (!status.startsWith('applied')) return 'skipped';
  if (isUnscored(record)) return 'invalid';
  if (salvagedEdits) return salvagedEdits.includes(index) ? 'accepted' : 'rejected';
  return isAccepted(action) ? 'accepted' : 'rejected';
}
