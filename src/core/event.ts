import type { EditReport } from './apply-edit.ts';
import type { SkillOptConfig } from './config.ts';
import type { Patch, RawPatch } from './edit.ts';
import type { GateAction } from './gate.ts';
import type { Usage } from './model.ts';
import type { RolloutResult } from './rollout-result.ts';
import type { Evaluation } from './score.ts';

export const STAGES = ['rollout', 'reflect', 'aggregate', 'select', 'update', 'evaluate'] as const;
export type Stage = (typeof STAGES)[number];

/** What became of a step: the gate's word, or why the gate was not asked. */
export type StepAction = GateAction | 'unchanged' | 'skip_no_patches' | 'skip_no_rewrite' | 'force_accept';

export type StageUsage = Usage & {
  /** Replies used, sent for or from the cache. */
  readonly replies: number;
  /** How many of them came from the cache. */
  readonly cacheHits: number;
  readonly retries: number;
  /** Milliseconds that calls stood in line for a rate limit, added up over calls. */
  readonly waitMs: number;
  /** Dollars, of the replies whose model has a known price. */
  readonly costUsd: number;
  /** Replies whose model has none. */
  readonly unpriced: number;
};

export const noStageUsage: StageUsage = {
  input: 0,
  cached: 0,
  output: 0,
  reasoning: 0,
  replies: 0,
  cacheHits: 0,
  retries: 0,
  waitMs: 0,
  costUsd: 0,
  unpriced: 0,
};

/** Everything that may change the outcome of a run, by name. A run goes on only under the same identity. */
export type RunIdentity = Readonly<Record<string, string | number | boolean>>;

type StageEvent<Name extends Stage, Data> = {
  readonly type: 'stage-end';
  readonly step: number;
  readonly stage: Name;
} & Data;

/** What a run did, in order, before it is stamped with times. */
export type RunFact =
  | {
      readonly type: 'run-start';
      readonly format: 1;
      readonly identity: RunIdentity;
      readonly config: SkillOptConfig;
      readonly env: string;
      readonly target: string;
      readonly optimizer: string;
      readonly initialSkill: string;
      readonly totalSteps: number;
      readonly items: Readonly<Record<string, number>>;
    }
  | { readonly type: 'baseline-end'; readonly evaluation: Evaluation; readonly score: number }
  | {
      readonly type: 'step-start';
      readonly step: number;
      readonly epoch: number;
      readonly stepInEpoch: number;
      readonly editBudget: number;
      readonly seed: number;
      readonly itemIds: readonly string[];
    }
  | StageEvent<'rollout', { readonly evaluation: Evaluation }>
  | StageEvent<'reflect', { readonly patches: readonly RawPatch[] }>
  | StageEvent<'aggregate', { readonly patch: Patch }>
  | StageEvent<'select', { readonly patch: Patch }>
  | StageEvent<
      'update',
      { readonly candidateSkill: string; readonly candidateHash: string; readonly report: readonly EditReport[] }
    >
  | StageEvent<
      'evaluate',
      { readonly evaluation: Evaluation | null; readonly score: number; readonly action: StepAction }
    >
  | { readonly type: 'step-end'; readonly step: number; readonly action: StepAction }
  | {
      readonly type: 'test-end';
      readonly subject: 'baseline' | 'best';
      readonly evaluation: Evaluation;
      readonly taskTypes: readonly string[];
    }
  | { readonly type: 'run-end' };

/** What differs between two runs of the same thing: when, how long, and what had to be paid again. */
export type Stamp = { readonly at: string; readonly ms: number; readonly usage: Readonly<Record<string, StageUsage>> };

/** One line of the journal. Every view of a run is a fold over these. */
export type RunEvent = RunFact & Stamp;

/** An event without its stamp: equal for equal runs. */
export function toFact({ at: _at, ms: _ms, usage: _usage, ...fact }: RunEvent): RunFact {
  return fact as RunFact;
}

/** Single rollouts and calls as they finish. Not journaled, and never needed to resume. */
export type Progress = {
  readonly phase: 'baseline' | Stage | 'test';
  readonly step: number;
  readonly done: number;
  readonly total: number;
  /** The result that just came in, when the phase rolls out tasks. */
  readonly result?: Pick<RolloutResult, 'id' | 'hard' | 'soft' | 'errored'>;
};
