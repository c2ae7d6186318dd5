import type { SkillOptConfig } from '../config.ts';
import type { FailurePattern } from '../failure-pattern.ts';
import type { FinalMeasurement, GateDecision } from '../gate/gate-decision.ts';
import { type GateEvidence, noGateEvidence } from '../gate/gate-evidence.ts';
import type { Bucket, ItemScore } from '../score.ts';
import type { EditReport } from '../skill/apply-edit.ts';
import type { SearchEnd, TestSubject } from './event.ts';
import type { LrDecision } from './optimizer-facts.ts';
import type { AnswerTable } from './stage-answers.ts';
import type { StageUsage } from './stage-usage.ts';
import type { Stage, StepAction } from './step-action.ts';
import type { StepBufferEntry, TriedEdit } from './step-buffer.ts';

export type ScoredSkill = {
  readonly skill: string;
  readonly hash: string;
  readonly score: number;
  readonly step: number;
  /** What made it: `initial`, `step_0003`, `slow_update_epoch_02`, `prune`. */
  readonly origin: string;
};

/** What a skill scored in one pass over validation. */
type Pass = { readonly hash: string; readonly hard: number; readonly soft: number };

/** What is known of the worth of one accepted edit by itself. */
export type EditEffect = {
  /** How much more the skill scores with it than without, by the metric of the gate; `null` when nobody has measured that. */
  readonly gain: number | null;
  /** A step or a part of one that was this edit alone, the skill without it during the search or at its end, or nothing. */
  readonly measuredBy: 'own_step' | 'salvage' | 'removal' | 'prune' | 'not_measured';
  /** How many validation tasks it was measured on. */
  readonly tasks: number;
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

export type TestReport = {
  readonly hard: number;
  readonly soft: number;
  readonly n: number;
  readonly buckets: Readonly<Record<string, Bucket>>;
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

/** An epoch's end: what the next one compares itself with. */
type EpochRecord = {
  readonly epoch: number;
  readonly skill: string;
  /** Attempts until then, and whether the epoch made none. */
  readonly rollouts: number;
  readonly isIdle: boolean;
};

/** Something that was refused at a step, or in the guidance of an epoch. */
export type Leak = {
  readonly stage: 'select' | 'update' | 'slow_update';
  /** The step, or the epoch. */
  readonly at: number;
  readonly reason: string;
};

export type RunState = {
  readonly config: SkillOptConfig | undefined;
  readonly totalSteps: number;
  readonly items: Readonly<Record<string, number>>;
  readonly initialSkill: string;
  readonly current: ScoredSkill;
  readonly best: ScoredSkill;
  /** Of a run of an earlier version that compared them at its end: what was the best before, each once, the latest last. */
  readonly formerBests?: readonly ScoredSkill[];
  readonly baseline: { readonly hard: number; readonly soft: number; readonly score: number } | undefined;
  /** How long the baseline took for each of its rollouts, or the first step if the cache knew it. As many at once as there are workers. */
  readonly rolloutMs: number | undefined;
  readonly stepsDone: number;
  /** Attempts at training and validation tasks so far, each draw of a text once, whether or not a cache knew it. */
  readonly rollouts: number;
  /** Training tasks that were attempted with the current skill. */
  readonly attempted: { readonly hash: string; readonly ids: readonly string[] };
  /** What was tried to do without: see `removalKey`. */
  readonly removalsTried: readonly string[];
  readonly draft: StepDraft;
  readonly history: readonly StepRecord[];
  /**
   * Validation scores of whole passes, so that no text is measured twice. Of two under one hash the last counts. A list, since
   * copying a table of thousands at each step would take a long run longer than all else.
   */
  readonly evaluations: readonly Pass[];
  /** What the gate knows of the seed skill and the current one. */
  readonly gate: GateEvidence;
  /** The winner by fresh rollouts, as soon as it was measured. */
  readonly finalMeasurement: FinalMeasurement | undefined;
  /** What the steps of this epoch have tried, for those that follow. */
  readonly stepBuffer: readonly StepBufferEntry[];
  /** The optimizer's notes on which edits helped. Never part of a skill. */
  readonly metaSkill: string;
  readonly lastEpoch: EpochRecord | undefined;
  /** The skill after the last step, before any guidance. */
  readonly epochSkill: string;
  /** The last epoch whose guidance, and whose notes, are written. */
  readonly slowUpdateEpoch: number;
  readonly metaSkillEpoch: number;
  readonly lrHistory: readonly (LrDecision & { readonly step: number })[];
  /** What was refused because it gives held-out tasks away. */
  readonly leaks: readonly Leak[];
  /** Of the best skill, once the run is done. */
  readonly memorisedShare: number | undefined;
  readonly searchEnd: SearchEnd | undefined;
  readonly isPruned: boolean;
  readonly final: { readonly hard: number; readonly soft: number; readonly score: number } | undefined;
  /** How many times the test tasks were looked at, with this run; nothing before it does. */
  readonly testLooks: number | undefined;
  readonly tests: { readonly [subject in TestSubject]?: TestReport };
  readonly usage: Readonly<Record<string, StageUsage>>;
  /** What became of the optimizer's replies, by stage. */
  readonly answers: AnswerTable;
  readonly startedAt: string;
  readonly wallTimeMs: number;
  readonly isDone: boolean;
};

/** A part of what a step has added. */
export const removalKey = (step: number, passages: readonly string[]) => JSON.stringify([step, ...passages]);

export const unscored: ScoredSkill = { skill: '', hash: '', score: 0, step: 0, origin: 'initial' };

/** Raised when a state looks different, or the same journal folds to another one: then no kept state is used. */
export const STATE_FORMAT = 2;

/** A run before its first event. */
export const emptyRun: RunState = {
  config: undefined,
  totalSteps: 0,
  items: {},
  initialSkill: '',
  current: unscored,
  best: unscored,
  baseline: undefined,
  rolloutMs: undefined,
  stepsDone: 0,
  rollouts: 0,
  attempted: { hash: '', ids: [] },
  removalsTried: [],
  draft: {},
  history: [],
  evaluations: [],
  gate: noGateEvidence,
  finalMeasurement: undefined,
  stepBuffer: [],
  metaSkill: '',
  lastEpoch: undefined,
  epochSkill: '',
  slowUpdateEpoch: 0,
  metaSkillEpoch: 0,
  lrHistory: [],
  leaks: [],
  memorisedShare: undefined,
  searchEnd: undefined,
  isPruned: false,
  final: undefined,
  testLooks: undefined,
  tests: {},
  usage: {},
  answers: {},
  startedAt: '',
  wallTimeMs: 0,
  isDone: false,
};
