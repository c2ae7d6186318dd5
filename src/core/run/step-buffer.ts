import type { FailurePattern, UpdateItem } from '../skill/edit.ts';
import type { StepAction } from './step-action.ts';

export type TriedEdit = Pick<UpdateItem, 'op' | 'target' | 'content' | 'file'>;

/** What prompts of later steps say about an earlier one. */
export type StepBufferEntry = {
  readonly step: number;
  readonly action: StepAction;
  readonly nTotal: number;
  readonly nFail: number;
  readonly failurePatterns: readonly FailurePattern[];
  /** Of a rejected candidate: what it had to beat, what it reached, and what it was made of. */
  readonly scoreBefore?: number;
  readonly scoreAfter?: number;
  readonly rejectedEdits?: readonly TriedEdit[];
  /** Why it was not measured: it is no skill that could be used. */
  readonly invalid?: string;
  /** What that candidate was made of. */
  readonly invalidEdits?: readonly TriedEdit[];
  /** It lost on what was seen, without certainty: so many of the validation tasks were met. */
  readonly undecided?: { readonly met: number; readonly total: number };
};

/** The edits that no rejected candidate of the buffer held word for word. */
export function withoutRejected<E extends TriedEdit>(edits: readonly E[], buffer: readonly StepBufferEntry[]): E[] {
  const rejected = new Set(buffer.flatMap((entry) => entry.rejectedEdits ?? []).map(nameOf));
  return edits.filter((edit) => !rejected.has(nameOf(edit)));
}

const nameOf = ({ op, target, content, file = '' }: TriedEdit) =>
  JSON.stringify([op, target.trim(), content.trim(), file]);
