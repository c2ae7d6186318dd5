import type { SkillOptConfig } from '../config.ts';
import type { FailurePattern } from '../failure-pattern.ts';
import type { Blame, FinalMeasurement, GateDecision } from '../gate/gate-decision.ts';
import type { RolloutResult } from '../rollout-result.ts';
import type { Evaluation } from '../score.ts';
import type { EditReport } from '../skill/apply-edit.ts';
import type { Patch, RawPatch } from '../skill/edit.ts';
import type { LrDecision, Prune, Removal, Salvage, SlowUpdate } from './optimizer-facts.ts';
import type { AnswerTable } from './stage-answers.ts';
import type { StageUsage } from './stage-usage.ts';
import type { Stage, StepAction } from './step-action.ts';

/** Everything that may change the outcome of a run, by name. A run goes on only under the same identity. */
export type RunIdentity = Readonly<Record<string, string | number | boolean>>;

type TriedText = { readonly op: string; readonly target: string; readonly content: string };

/** What was kept out of the skill because it gives held-out tasks away, with the reason. */
export type Refusal = TriedText & { readonly reason: string };

/** Why a search was over before its epochs were. */
export type SearchEnd = 'nothing_to_gain' | 'rollouts_spent';

export type TestSubject = 'baseline' | 'best' | 'final';

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
  | {
      readonly type: 'baseline-end';
      readonly evaluation: Evaluation;
      readonly score: number;
      /** Further passes of the same skill, which tell its noise. */
      readonly passes?: readonly Evaluation[];
    }
  | {
      readonly type: 'step-start';
      readonly step: number;
      readonly epoch: number;
      readonly stepInEpoch: number;
      /** Which of the candidates made from this batch, from the second on. */
      readonly proposal?: number;
      /** Most edits of the step; `null` when nothing limits them. */
      readonly editBudget: number | null;
      readonly seed: number;
      readonly itemIds: readonly string[];
      /** How the tasks are divided when a step accumulates several batches. */
      readonly batches?: readonly { readonly seed: number; readonly size: number }[];
    }
  | StageEvent<'rollout', { readonly evaluation: Evaluation }>
  | StageEvent<
      'reflect',
      { readonly patches: readonly RawPatch[]; readonly failurePatterns?: readonly FailurePattern[] }
    >
  | StageEvent<'aggregate', { readonly patch: Patch }>
  | ({ readonly type: 'lr-decision'; readonly step: number } & LrDecision)
  | StageEvent<
      'select',
      {
        readonly patch: Patch;
        /** Edits that give held-out tasks away. */
        readonly refused?: readonly Refusal[];
        /** Edits that add what the skill says already. */
        readonly repeats?: readonly TriedText[];
        /** Share of the training tasks of which the patch repeats something that the skill does not say; absent if none. */
        readonly memorisedShare?: number;
      }
    >
  | StageEvent<
      'update',
      {
        readonly candidateSkill: string;
        readonly candidateHash: string;
        readonly report: readonly EditReport[];
        /** What a rewriter says that it changed. */
        readonly changeSummary?: readonly string[];
        /** How many edits were left out because the skill would have been too long. */
        readonly nOverCap?: number;
        /** Reminders in the appendix: new ones, and all. */
        readonly notes?: {
          readonly added: number;
          readonly total: number;
          readonly consolidated: boolean;
          /** Those that hide something were left out. */
          readonly hidden?: number;
        };
        /** A rewrite, or reminders, that give held-out tasks away. */
        readonly refused?: readonly Refusal[];
        /** As at `select`, of the whole candidate. */
        readonly memorisedShare?: number;
      }
    >
  | StageEvent<
      'evaluate',
      {
        readonly evaluation: Evaluation | null;
        readonly score: number;
        readonly action: StepAction;
        /** The candidate lost before it had met every item, or too many gave no result: it has no score of the whole split. */
        readonly isPartial?: boolean;
        /** Under the strict gate, of an invalid evaluation: why. The other gate says it in its decision. */
        readonly invalidReason?: string;
        readonly decision?: GateDecision;
        readonly blame?: Blame;
      }
    >
  | ({ readonly type: 'salvage-end'; readonly step: number } & Salvage)
  | ({ readonly type: 'removal-end'; readonly step: number } & Removal)
  | { readonly type: 'step-end'; readonly step: number; readonly action: StepAction }
  | ({ readonly type: 'slow-update-end'; readonly epoch: number } & SlowUpdate)
  | {
      readonly type: 'meta-skill-end';
      readonly epoch: number;
      readonly action: 'write_meta_skill' | 'no_content';
      readonly content: string;
      readonly reasoning: string;
      readonly nClippedTrajectories?: number;
    }
  | { readonly type: 'epoch-end'; readonly epoch: number }
  | {
      readonly type: 'search-end';
      /** The skill passes every validation task, or what `maxRollouts` allows is used up. */
      readonly reason: SearchEnd;
    }
  | ({ readonly type: 'prune-end' } & Prune)
  | {
      readonly type: 'final-selection-end';
      /** `null` when the text was measured before. */
      readonly evaluation: Evaluation | null;
      readonly score: number;
      readonly isPromoted: boolean;
    }
  | {
      readonly type: 'test-look';
      /** How many times these tasks were looked at, with this one. */
      readonly looks: number;
      /** Hash of the tasks. */
      readonly tasks: string;
    }
  | {
      readonly type: 'test-end';
      readonly subject: TestSubject;
      readonly evaluation: Evaluation;
      readonly taskTypes: readonly string[];
    }
  | {
      readonly type: 'finalists-end';
      /** By passes of their own. */
      readonly finalists: readonly { readonly hash: string; readonly origin: string; readonly score: number }[];
      /** The one that measured best. */
      readonly hash: string;
    }
  | ({ readonly type: 'final-measurement-end' } & FinalMeasurement)
  | {
      readonly type: 'run-end';
      /** Share of the training tasks of which the best skill repeats something that the initial one does not. */
      readonly memorisedShare?: number;
    };

/** What differs between two runs of the same thing: when, how long, and what had to be paid again. */
export type Stamp = {
  readonly at: string;
  readonly ms: number;
  readonly usage: Readonly<Record<string, StageUsage>>;
  /** How far the replies in the cache are part of the usages so far: what was set there later, no line tells of. */
  readonly counted?: number;
  /** Attempts on the way here whose environment threw, if any. */
  readonly threw?: number;
  /** What became of the optimizer's replies on the way here, if it was asked. */
  readonly answers?: AnswerTable;
};

/** One line of the journal. Every view of a run is a fold over these. */
export type RunEvent = RunFact & Stamp;

/** An event without its stamp: equal for equal runs. */
export function toFact(event: RunEvent): RunFact {
  const { at: _at, ms: _ms, usage: _usage, counted: _counted, threw: _threw, answers: _answers, ...fact } = event;
  return fact as RunFact;
}

/** Single rollouts and calls as they finish. Not journaled, and never needed to resume. */
export type Progress = {
  readonly phase: 'baseline' | Stage | 'salvage' | 'removal' | 'slow update' | 'prune' | 'final measurement' | 'test';
  readonly step: number;
  readonly done: number;
  readonly total: number;
  /** The result that just came in, when the phase rolls out tasks. */
  readonly result?: Pick<RolloutResult, 'id' | 'hard' | 'soft' | 'errored'>;
};
