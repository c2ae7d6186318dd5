import type { Stage } from './events/event-data.ts';
import type { RUN_EVENTS, STAGE_EVENTS } from './events/events.ts';
import type { DataOf } from './events/field.ts';
import type { FailureTable } from './failures.ts';
import type { AnswerTable, StageUsage } from './stage-usage.ts';

export type { SearchEnd, SkillSource, TestSubject } from './events/event-data.ts';

type Kinds = typeof RUN_EVENTS;
type Stages = typeof STAGE_EVENTS;
type StageEnd<Name extends Stage> = { readonly type: 'stage-end'; readonly step: number; readonly stage: Name };

/** What a run did, in order, before it is stamped with times. Each kind is defined in `events/`. */
export type RunFact =
  | { [Type in keyof Kinds]: { readonly type: Type } & DataOf<Kinds[Type]> }[keyof Kinds]
  | { [Name in Stage]: StageEnd<Name> & DataOf<Stages[Name]> }[Stage];

/** What differs between two runs of the same thing: when, how long, and what had to be paid again. */
export type Stamp = {
  readonly at: string;
  readonly ms: number;
  readonly usage: Readonly<Record<string, StageUsage>>;
  /** How far the replies in the cache are part of the usages so far: no line counts what was set there later. */
  readonly counted?: number;
  /** Attempts on the way here whose environment threw, if any. */
  readonly threw?: number;
  /** As long as nothing was even partly right: why attempts on the way here failed. */
  readonly failures?: FailureTable;
  /** What became of the optimizer's replies on the way here, if it was asked. */
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
