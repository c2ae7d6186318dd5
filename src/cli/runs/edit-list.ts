import { isAccepted } from '../../core/known-scores.ts';
import type { RunState, StepRecord } from '../../core/run-state.ts';

/** An edit that reached the document, and what became of it. */
export type ListedEdit = StepRecord['edits'][number] & {
  readonly step: number;
  readonly status: StepRecord['editStatuses'][number] | 'skipped_over_cap';
  readonly fate: 'accepted' | 'rejected' | 'skipped';
};

/** Every edit that was selected in a run, in order. One that did not fit the text is `skipped`. */
export function listEdits({ history }: Pick<RunState, 'history'>): ListedEdit[] {
  return history.flatMap((record) =>
    (record.edits ?? []).map((edit, index) => {
      const status = record.editStatuses?.[index] ?? 'skipped_over_cap';
      return { ...edit, step: record.step, status, fate: fateOf(record, status, index) };
    }),
  );
}

function fateOf({ action, salvagedEdits }: StepRecord, status: string, index: number): ListedEdit['fate'] {
  if (!status.startsWith('applied')) return 'skipped';
  if (salvagedEdits) return salvagedEdits.includes(index) ? 'accepted' : 'rejected';
  return isAccepted(action) ? 'accepted' : 'rejected';
}
