import type { Stage } from './events/event-data.ts';
import type { RUN_EVENTS, STAGE_EVENTS } from './events/events.ts';
import type { DataOf } from './events/field.ts';
import type { FailureTable } from './failures.ts';
import type { AnswerTable, StageUsage } from './stage-usage.ts';

export type { SearchEnd, SkillSource, TestSubject } from './events/event-data.ts';

type Kinds = typeof RUN_EVENTS;
type StageEnd<Name extends Stage> = { readonly type: 'stage-end'; readonly step: number; readonly stage: Name };

/** What a run did, without times. Each kind is defined in `events/`. */
export type RunFact =
  | { [Type in keyof Kinds]: { readonly type: Type } & DataOf<Kinds[Type]> }[keyof Kinds]
  | { [Name in Stage]: StageEnd<Name> & DataOf<(typeof STAGE_EVENTS)[Name]> }[Stage];

/** What may differ between two equal runs: times, and what had to be paid again. */
export type Stamp = {
  readonly at: string;
  readonly ms: number;
  readonly usage: Readonly<Record<string, StageUsage>>;
  /** In journals of earlier versions: how far the replies in the cache are counted by the usages so far. */
  readonly counted?: number;
  /** Attempts since the last event whose environment threw. */
  readonly threw?: number;
  /** Why attempts failed, as long as nothing was even partly right. */
  readonly failures?: FailureTable;
  /** The optimizer's replies since the last event. */
  readonly answers?: AnswerTable;
};

/** One line of the journal. Every view of a run is a fold over these. */
export type RunEvent = RunFact & Stamp;

/** An event without its stamp: equal for equal runs. */
export function toFact(event: RunEvent): RunFact {
  const { at: _at, ms: _ms, usage: _usage, counted: _counted, threw: _threw, ...rest } = event;
  const { failures: _failures, answers: _answers, ...fact } = rest;
  return fact as RunFact;
}
