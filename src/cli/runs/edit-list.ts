import { isAccepted, type RunState, type StepRecord } from '../../core/state.ts';

/** An edit that reached the document, and what became of it. */
export type ListedEdit = StepRecord['edits'][number] & {
  readonly step: number;
  readonly status: StepRecord['editStatuses'][number];
  readonly fate: 'accepted' | 'rejected' | 'skipped';
};

/** Every edit that was selected in a run, in order. One that did not fit the text is `skipped`. */
export function listEdits({ history }: Pick<RunState, 'history'>): ListedEdit[] {
  return history.flatMap((record) =>
    (record.edits ?? []).map((edit, index) => {
      const status = record.editStatuses?.[index] ?? 'error';
      return { ...edit, step: record.step, status, fate: fateOf(record, status) };
    }),
  );
}

function fateOf({ action }: StepRecord, status: ListedEdit['status']): ListedEdit['fate'] {
  if (!status.startsWith('applied')) return 'skipped';
  return isAccepted(action) ? 'accepted' : 'rejected';
}
