import type { ItemScore, SkillOptConfig } from '../contracts/index.ts';
import type { EditReport, FailurePattern, UpdateItem } from '../document/index.ts';
import type { LrDecision, Stage, StepAction } from './events/event-data.ts';
import type { Blame, GateDecision } from './gate-evidence.ts';
import type { StageUsage } from './stage-usage.ts';

/** What is known of the worth of one accepted edit by itself. */
export type EditEffect = {
  /** How much more the skill scores with it than without, by the metric of the gate; `null` when that was not measured. */
  readonly gain: number | null;
  /** A step or a part of one that was this edit alone, the skill without it during the search or at its end, or nothing. */
  readonly measuredBy: 'own_step' | 'salvage' | 'removal' | 'prune' | 'not_measured';
  /** How many validation tasks it was measured on. */
  readonly tasks: number;
};

/** One of the batches whose patches a step accumulates; mostly there is one. */
export type BatchRecord = {
  readonly batchIdx: number;
  readonly batchSeed: number;
  readonly nEnvs: number;
  readonly hard?: number;
  readonly soft?: number;
  readonly nFailurePatches?: number;
  readonly nSuccessPatches?: number;
};

/** One finished step: what `history.json` holds. */
export type StepRecord = {
  readonly step: number;
  readonly epoch: number;
  readonly stepInEpoch: number;
  /** Which of the candidates made from its batch, from the second on. */
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
  /** Edits that were left out because the skill says it already. */
  readonly nRepeats?: number;
  readonly supportCounts: readonly number[];
  readonly candidateHash: string;
  readonly candidateSkillLen: number;
  readonly edits: readonly TriedEdit[];
  readonly editStatuses: readonly EditReport['status'][];
  /** Of an accepted step, by the place of each edit: what is known of its own effect; `null` for those that were not kept. */
  readonly editEffects?: readonly (EditEffect | null)[];
  readonly rewriteChangeSummary?: readonly string[];
  readonly nOverCap?: number;
  /** Edits, rewrites and reminders that were refused because they give held-out tasks away. */
  readonly nLeaksRefused?: number;
  /** Share of the training tasks of which the candidate repeats something that the skill before it does not. */
  readonly memorisedShare?: number;
  readonly nClippedTrajectories?: number;
  readonly nAppendixNotesAdded?: number;
  readonly nAppendixNotesTotal?: number;
  /** Places of the edits that were kept of a patch that was rejected as a whole. */
  readonly salvagedEdits?: readonly number[];
  /** What was taken out of the skill after this step, because it is better without. */
  readonly removed?: readonly string[];
  readonly selectionHard: number | null;
  readonly selectionSoft: number | null;
  readonly candidateGateScore: number;
  readonly verdict?: GateDecision['verdict'];
  readonly verdictReason?: string;
  /** Of a candidate that is undecided: about how many more rollouts would decide it. */
  readonly needsRollouts?: number;
  /** Of a candidate under which most tasks threw. */
  readonly blame?: Blame;
  readonly isPartial?: boolean;
  /** Of a candidate that lost before it had met all: how many validation tasks it met. Its score is an estimate. */
  readonly nItemsMet?: number;
  /** Under the gate that knows noise: how many validation tasks there are. */
  readonly nItems?: number;
  /** Under the same gate: the gain that is expected of the candidate, in score units, and the chance of any. */
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

/** A step on its way: stage by stage, what the record will be made of. */
export type StepDraft = Partial<StepRecord> & {
  readonly candidateSkill?: string;
  readonly nFail?: number;
  readonly candidateScores?: readonly ItemScore[];
  readonly failurePatterns?: readonly FailurePattern[];
  /** What the whole patch reached of which a part was saved. */
  readonly rejectedScore?: number;
};

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

/** A step as `history.json` and `step_record.json` have it: what those who read the reference's files look for, and ours beside it. */
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
