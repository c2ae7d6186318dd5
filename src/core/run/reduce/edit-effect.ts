import { head } from '../../text/python-text.ts';
import type { RunState } from '../run-state.ts';
import type { EditEffect, StepRecord } from '../step-record.ts';
import { isAccepted } from './acceptance.ts';

const notMeasured: EditEffect = { gain: null, measuredBy: 'not_measured', tasks: 0 };

/** The places of the edits that a step has put into the skill, if it was accepted. */
export function keptEdits({ edits = [], editStatuses = [], salvagedEdits }: StepRecord): number[] {
  const places = edits.map((_, index) => index);
  return places.filter((index) => salvagedEdits?.includes(index) ?? editStatuses[index]?.startsWith('applied'));
}

/** Of an accepted step, by the place of each edit: `null` for those that it did not keep. */
export function effectsOfStep(record: StepRecord, tasks: number): (EditEffect | null)[] {
  const kept = keptEdits(record);
  const isAlone = kept.length === 1 && !record.nAppendixNotesAdded;
  const gain = record.expectedGain ?? record.candidateGateScore - record.scoreBefore;
  const measuredBy = record.salvagedEdits ? 'salvage' : 'own_step';
  const effect: EditEffect = isAlone ? { gain, measuredBy, tasks } : notMeasured;
  return record.edits.map((_, index) => (kept.includes(index) ? effect : null));
}

type Measured = EditEffect & {
  /** What the edit wrote. */
  readonly passage: string;
};

/** The history after the skill was measured without one passage. What was seen on more tasks stands. */
export function noteEffect(history: readonly StepRecord[], { passage, ...effect }: Measured): StepRecord[] {
  return history.map((record) => {
    const { edits, editEffects } = record;
    if (!editEffects?.some((known, index) => known && edits[index]!.content.trim() === passage)) return record;
    const noted = editEffects.map((known, index) => {
      const isIt = known && edits[index]!.content.trim() === passage && effect.tasks >= known.tasks;
      return isIt ? effect : known;
    });
    return { ...record, editEffects: noted };
  });
}

export type AcceptedEdit = EditEffect & {
  readonly step: number;
  readonly op: string;
  readonly target: string;
  /** Texts are cut at 200 code points. */
  readonly contentPreview: string;
};

/** Every edit that was accepted in a run, in order, with what is known of its own effect. */
export function acceptedEdits({ history }: Pick<RunState, 'history'>): AcceptedEdit[] {
  return history
    .filter(({ action }) => isAccepted(action))
    .flatMap((record) =>
      keptEdits(record).map((index) => {
        const { op, target, content } = record.edits[index]!;
        const effect = record.editEffects?.[index] ?? notMeasured;
        return { step: record.step, op, target: head(target, 200), contentPreview: head(content, 200), ...effect };
      }),
    );
}
