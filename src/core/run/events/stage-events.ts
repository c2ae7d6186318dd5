import type { Blame, GateDecision } from '../../gate/gate-decision.ts';
import type { Evaluation } from '../../score.ts';
import type { EditReport } from '../../skill/apply-edit.ts';
import type { FailurePattern, Patch, RawPatch } from '../../skill/edit.ts';
import type { Stage, StepAction } from '../step-action.ts';
import { candidate, evaluation, failurePatterns, judged, patch, refused, texts } from './common-fields.ts';
import type { Refusal, TriedText } from './event-data.ts';
import { anything, type Definition, define, listOf, object, optional, text } from './field.ts';

/** What a `stage-end` holds besides its `step` and its `stage`. */
export const STAGE_EVENTS = {
  rollout: define<{ readonly evaluation: Evaluation }>({ evaluation }),

  reflect: define<{
    readonly patches: readonly RawPatch[];
    readonly failurePatterns?: readonly FailurePattern[];
  }>({
    failurePatterns,
    patches: listOf(object<RawPatch>({ patch, sourceType: text, failurePatterns })),
  }),

  aggregate: define<{ readonly patch: Patch }>({ patch }),

  select: define<{
    readonly patch: Patch;
    /** Edits that give held-out tasks away. */
    readonly refused?: readonly Refusal[];
    /** Edits that add what the skill says already. */
    readonly repeats?: readonly TriedText[];
    /** Share of the training tasks of which the patch repeats something that the skill does not say; absent if none. */
    readonly memorisedShare?: number;
  }>({ patch, refused, repeats: optional(listOf(anything)) }),

  update: define<{
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
  }>({
    ...candidate,
    report: listOf(object<EditReport>({ status: text })),
    changeSummary: optional(texts),
    refused,
  }),

  evaluate: define<{
    readonly evaluation: Evaluation | null;
    readonly score: number;
    readonly action: StepAction;
    /** The candidate lost before it had met every item, or too many gave no result: it has no score of the whole split. */
    readonly isPartial?: boolean;
    /** Under the strict gate, of an invalid evaluation: why. The other gate says it in its decision. */
    readonly invalidReason?: string;
    readonly decision?: GateDecision;
    readonly blame?: Blame;
  }>(judged),
} satisfies Record<Stage, Definition<unknown>>;
