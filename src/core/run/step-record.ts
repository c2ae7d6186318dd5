import type { ItemScore, SkillOptConfig } from '../contracts/index.ts';
import type { EditReport, FailurePattern, UpdateItem } from '../document/index.ts';
import type { LrDecision, Stage, StepAction } from './events/event-data.ts';
import type { Blame, GateDecision } from './gate-evidence.ts';
import type { StageUsage } from './stage-usage.ts';

/** The worth of one accepted edit by itself. */
export type EditEffect = {
  /** The score with it less the score without, by the metric of the gate; `null` when it was not measured. */
  readonly gain: number | null;
  readonly measuredBy: 'own_step' | 'salvage' | 'removal' | 'prune' | 'not_measured';
  /** Validation tasks that it was measured on. */
  readonly tasks: number;
  /** That it is a gain at all, where that is likely: a gate that knows noise took the edit alone, or missed it when it was left out. */
  readonly chance?: number;
};

/** One of the batches that a step accumulates. */
export type BatchRecord = {
  readonly batchIdx: number;
  readonly batchSeed: number;
  readonly nEnvs: number;
  readonly hard?: number;
  readonly soft?: number;
  readonly nFailurePatches?: number;
  readonly nSuccessPatches?: number;
};

/** One finished step, as in `history.json`. */
export type StepRecord = {
  readonly step: number;
  readonly epoch: number;
  readonly stepInEpoch: number;
  /** Which candidate of its batch, from the second on. */
  readonly proposal?: number;
  readonly action: StepAction;
  readonly editBudget: number | null;
  readonly lrDecision?: LrDecision;
  readonly rolloutHard: number;
  readonly rolloutSoft: number;
  readonly rolloutN: number;
  readonly accumulationBatches?: readonly BatchRecord[];
  readonly nPatches: number;
  readonly nFailurePatches: number;
  readonly nSuccessPatches: number;
  readonly nEditsMerged: number;
  readonly nEditsRanked: number;
  /** Edits that said nothing new. */
  readonly nRepeats?: number;
  /** Attempts that speak for each edit, as the optimizer adds them up. */
  readonly supportCounts: readonly number[];
  /** How many analysts asked for each edit, as far as that is sure. Older journals may lack it. */
  readonly analystCounts?: readonly number[];
  readonly candidateHash: string;
  readonly candidateSkillLen: number;
  readonly edits: readonly TriedEdit[];
  readonly editStatuses: readonly EditReport['status'][];
  /** Of an accepted step, by the index of each edit; `null` for edits that were not kept. */
  readonly editEffects?: readonly (EditEffect | null)[];
  readonly rewriteChangeSummary?: readonly string[];
  readonly nOverCap?: number;
  /** Texts that were refused because they give tasks away. */
  readonly nLeaksRefused?: number;
  /** Share of the training tasks of which the candidate repeats something new. */
  readonly memorisedShare?: number;
  readonly nClippedTrajectories?: number;
  readonly nAppendixNotesAdded?: number;
  readonly nAppendixNotesTotal?: number;
  /** Indexes of the edits that were kept of a rejected patch. */
  readonly salvagedEdits?: readonly number[];
  /** Passages that were taken out of the skill after this step. */
  readonly removed?: readonly string[];
  readonly selectionHard: number | null;
  readonly selectionSoft: number | null;
  readonly candidateGateScore: number;
  readonly verdict?: GateDecision['verdict'];
  readonly verdictReason?: string;
  /** About how many more rollouts would decide an undecided candidate. */
  readonly needsRollouts?: number;
  readonly blame?: Blame;
  readonly isPartial?: boolean;
  /** Validation tasks that a candidate met which lost early. Its score is an estimate. */
  readonly nItemsMet?: number;
  /** Under the paired gate: all validation tasks, the expected gain in score units, and the chance of a gain. */
  readonly nItems?: number;
  readonly expectedGain?: number;
  readonly chance?: number;
  /** What the candidate had to beat. */
  readonly scoreBefore: number;
  readonly currentScore: number;
  readonly bestScore: number;
  readonly bestStep: number;
  readonly currentOrigin: string;
  readonly bestOrigin: string;
  readonly skillLen: number;
  readonly timing: Readonly<Partial<Record<Stage, number>>>;
  readonly tokens: Readonly<Record<string, StageUsage>>;
  readonly wallTimeS: number;
};

/** The record of a step that is under way. */
export type StepDraft = Partial<StepRecord> & {
  readonly candidateSkill?: string;
  readonly nFail?: number;
  readonly candidateScores?: readonly ItemScore[];
  readonly failurePatterns?: readonly FailurePattern[];
  /** What each analyst proposed, until the edits are selected. */
  readonly proposals?: readonly Proposal[];
  /** The score of the whole patch, of which a part was saved. */
  readonly rejectedScore?: number;
};

/** The text that one analyst asked for, and how many attempts it had read. */
export type Proposal = { readonly text: string; readonly read: number };

export type TriedEdit = Pick<UpdateItem, 'op' | 'target' | 'content' | 'file'>;

/** What prompts of later steps say about an earlier one. */
export type StepBufferEntry = {
  readonly step: number;
  readonly action: StepAction;
  readonly nTotal: number;
  readonly nFail: number;
  readonly failurePatterns: readonly FailurePattern[];
  /** Of a rejected candidate. */
  readonly scoreBefore?: number;
  readonly scoreAfter?: number;
  readonly rejectedEdits?: readonly TriedEdit[];
  /** Why the candidate is unusable, and was not measured. */
  readonly invalid?: string;
  readonly invalidEdits?: readonly TriedEdit[];
  /** It lost without certainty after meeting this many validation tasks. */
  readonly undecided?: { readonly met: number; readonly total: number };
};

/** The edits that no rejected candidate of the buffer held word for word. */
export function withoutRejected<E extends TriedEdit>(edits: readonly E[], buffer: readonly StepBufferEntry[]): E[] {
  const rejected = new Set(buffer.flatMap((entry) => entry.rejectedEdits ?? []).map(nameOf));
  return edits.filter((edit) => !rejected.has(nameOf(edit)));
}

const nameOf = ({ op, target, content, file = '' }: TriedEdit) =>
  JSON.stringify([op, target.trim(), content.trim(), file]);

/** A step as in `history.json` and `step_record.json`: the fields of the reference implementation, and ours. */
export function toStepRecordView(record: StepRecord, config: SkillOptConfig | undefined) {
  const { timing = {}, tokens = {}, editStatuses = [], ...rest } = record;
  const applyReport = countStatuses(editStatuses);
  return {
    ...rest,
    editStatuses,
    applyReport,
    editApplySummary: applyReport,
    gateMetric: config?.gateMetric,
    lrControlMode: config?.lrControlMode,
    timing: Object.fromEntries(Object.entries(timing).map(([stage, ms]) => [`${stage}S`, toSeconds(ms)])),
    timingMs: timing,
    tokens: Object.fromEntries(Object.entries(tokens).map(([stage, usage]) => [stage, withCounts(usage)])),
  };
}

export const toSeconds = (ms: number) => Math.round(ms / 10) / 100;

function countStatuses(statuses: readonly string[]) {
  const count = (prefix: string) => statuses.filter((status) => status.startsWith(prefix)).length;
  return { total: statuses.length, applied: count('applied'), skipped: count('skipped'), errors: count('error') };
}

const withCounts = (usage: StageUsage) => ({
  ...usage,
  calls: usage.replies - usage.cacheHits,
  promptTokens: usage.input,
  completionTokens: usage.output,
});
