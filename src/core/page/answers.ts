import type { RolloutResult } from '../contracts/index.ts';
import type { EditReport, Patch, RawPatch } from '../document/index.ts';
import type { Comparison, Cost, Progress, Refusal, StepRecord, TriedEdit, VerdictKind } from '../run/index.ts';
import type { Estimate } from '../stats/index.ts';
import type { GridColumn, TaskRow } from './grid.ts';
import type { RunPage } from './page.ts';

/** What the server answers besides a run itself. A report holds the same. */

export type RunListed = {
  readonly name: string;
  readonly state: string;
  readonly isRunning: boolean;
  /** `null` when the run cannot be read: then `problem` says why. */
  readonly verdict: VerdictKind | null;
  /** Which tasks the scores and the gain are of; `null` before there is a score. */
  readonly on: Comparison['on'] | null;
  readonly baselineScore: number | null;
  readonly bestScore: number | null;
  readonly gain: Estimate | null;
  readonly isProven: boolean;
  readonly accepted: number;
  readonly rejected: number;
  readonly undecided: number;
  readonly cost: Cost | null;
  /** Best scores on validation tasks by step, at most 60. */
  readonly sparkline: readonly number[];
  readonly modifiedAt: string;
  readonly problem?: string;
};

export type RunsPage = {
  readonly folder: string;
  readonly runs: readonly RunListed[];
  /** What could not be listed, and why. */
  readonly warning?: string;
};

/** A step from its training tasks to its end. What is `null` is not there yet, or was not kept. */
export type StepPage = {
  readonly step: number;
  readonly record: StepRecord | null;
  readonly failed: readonly string[];
  readonly passed: readonly string[];
  readonly patches: readonly RawPatch[] | null;
  readonly merged: Patch | null;
  readonly ranked: Patch | null;
  readonly refused: readonly Refusal[];
  readonly repeats: readonly TriedEdit[];
  readonly report: readonly EditReport[] | null;
  /** Versions that the step made, and the tasks that flipped with each: an observation, no cause. */
  readonly versions: readonly StepVersion[];
  /** Files that are not there. */
  readonly missing: readonly string[];
};

type StepVersion = {
  readonly version: number;
  readonly gained: readonly string[];
  readonly lost: readonly string[];
};

/** One attempt in a list. `file` and `place` open it. */
export type AttemptRow = {
  readonly task: string;
  /** The file of results without its ending, and the place in it. */
  readonly file: string;
  readonly place: number;
  /** `step 3, the candidate`. */
  readonly part: string;
  readonly step: number | null;
  /** Index of the version; `null` when it is not known. */
  readonly version: number | null;
  readonly hard: number;
  readonly soft: number;
  readonly errored: boolean;
};

/** Attempts that hold a text or belong to a task. `next` continues the search; `null` at its end. */
export type AttemptsPage = {
  readonly rows: readonly AttemptRow[];
  readonly next: string | null;
  readonly searched: number;
  readonly total: number;
};

export type AttemptPage = { readonly row: AttemptRow; readonly result: RolloutResult };

export type EventsPage = {
  readonly total: number;
  readonly events: readonly {
    readonly line: number;
    readonly type: string;
    readonly at: string;
    readonly text: string;
  }[];
};

export type ComparePage = {
  readonly a: string;
  readonly b: string;
  readonly split: string;
  readonly head: string;
  readonly sentence: string;
  readonly tasks: number;
  readonly before: number | null;
  readonly after: number | null;
  readonly gain: Estimate | null;
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  readonly notes: readonly string[];
  readonly settings: readonly { readonly name: string; readonly a: string; readonly b: string }[];
  readonly costs: readonly [Cost, Cost];
  readonly texts: { readonly before: string; readonly after: string };
};

export type NightListed = {
  readonly name: string;
  readonly night: number;
  readonly endedAt: string;
  readonly head: string;
  readonly sessions: number;
  readonly tasks: number;
  readonly cost: Pick<Cost, 'calls' | 'tokens' | 'costUsd' | 'isPriced'>;
};

export type ProposalPage = {
  readonly id: string;
  readonly night: number;
  readonly status: string;
  readonly document: string;
  readonly path: string;
  readonly digest: string;
  readonly before: string;
  readonly after: string;
  readonly evidence: readonly string[];
  readonly marks: readonly {
    readonly line: string;
    readonly reasons: readonly string[];
    readonly isStriking: boolean;
  }[];
};

export type NightsPage = {
  readonly project: string;
  readonly nights: readonly NightListed[];
  readonly proposals: readonly ProposalPage[];
};

/** All tasks of a run, as of this many lines of its journal. */
export type TasksPage = { readonly lines: number; readonly rows: readonly TaskRow[] };

export type SkillPage = { readonly version: number; readonly text: string };

/** What a run is doing right now, as far as it says so: the data of the event `progress`. */
export type DoingPage = {
  /** `null` between two stages. */
  readonly progress: Progress | null;
  /** Calls that are sent and not answered yet. */
  readonly waiting: number;
  /** Calls that were sent again since the server looks at the run. */
  readonly retries: number;
  /** The latest last: why calls were sent again, and pauses for a rate limit. */
  readonly notices: readonly string[];
};

/** What is wrong, and what to do about it: the data of the event `problem`, and every failure as `{ error }`. */
export type Problem = { readonly message: string; readonly hint: string };

/** What a report in one file holds: answers of the server, by the name of the run. */
export type ReportData = {
  readonly runs: RunsPage;
  readonly pages: Readonly<Record<string, RunPage>>;
  readonly tasks: Readonly<Record<string, TasksPage>>;
  readonly columns: Readonly<Record<string, readonly GridColumn[]>>;
  readonly skills: Readonly<Record<string, readonly SkillPage[]>>;
  readonly steps: Readonly<Record<string, readonly StepPage[]>>;
  readonly attempts: Readonly<Record<string, readonly AttemptPage[]>>;
  readonly events: Readonly<Record<string, EventsPage>>;
  /** Two documents on the same tasks, where the report is about those. */
  readonly compare?: ComparePage;
  /** One sentence for each kind of thing that is left out. */
  readonly leftOut: readonly string[];
};
