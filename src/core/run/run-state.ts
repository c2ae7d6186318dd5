import type { Bucket, EnvCard, SkillOptConfig } from '../contracts/index.ts';
import type { SearchEnd, SkillSource, TestSubject } from './event.ts';
import type { DraftedTasks, LrDecision } from './events/event-data.ts';
import type { FailureTable } from './failures.ts';
import { type EvidenceTable, type FinalMeasurement, type GateEvidence, noGateEvidence } from './gate-evidence.ts';
import type { AnswerTable, StageUsage } from './stage-usage.ts';
import type { StepBufferEntry, StepDraft, StepRecord } from './step-record.ts';

export type ScoredSkill = {
  readonly skill: string;
  readonly hash: string;
  readonly score: number;
  readonly step: number;
  /** What made it: `initial`, `step_0003`, `slow_update_epoch_02`, `prune`. */
  readonly origin: string;
};

/** A pass over validation. */
type Pass = { readonly hash: string; readonly hard: number; readonly soft: number };

export type TestReport = {
  readonly hard: number;
  readonly soft: number;
  readonly n: number;
  readonly buckets: Readonly<Record<string, Bucket>>;
};

/** What the next epoch compares itself with. */
type EpochRecord = {
  readonly epoch: number;
  readonly skill: string;
  /** Attempts so far, and whether the epoch made none. */
  readonly rollouts: number;
  readonly isIdle: boolean;
};

/** Something that was refused because it gives tasks away. */
export type Leak = {
  readonly stage: 'select' | 'update' | 'slow_update';
  /** The step, or the epoch of a slow update. */
  readonly at: number;
  readonly reason: string;
  /** Where it was quarantined: what it tries. */
  readonly kind?: string;
};

export type RunState = {
  readonly config: SkillOptConfig | undefined;
  readonly about: {
    readonly env: string;
    readonly target: string;
    readonly optimizer: string;
    /** Whether a rule of the user decides in place of ours. */
    readonly hasOwnGate?: boolean;
  };
  readonly totalSteps: number;
  readonly items: Readonly<Record<string, number>>;
  readonly drafts?: DraftedTasks;
  readonly card?: EnvCard;
  readonly aboutTasks?: readonly string[];
  readonly initialSkill: string;
  readonly skillSource?: SkillSource;
  /** The project file, relative to the run, if commands must name it. */
  readonly projectFile?: string;
  /** Whether commands must name the folder of the run too. */
  readonly isRunNamed?: boolean;
  readonly current: ScoredSkill;
  readonly best: ScoredSkill;
  /** Only in runs of an earlier version that compared finalists: earlier best skills, each once, the latest last. */
  readonly formerBests?: readonly ScoredSkill[];
  readonly baseline: { readonly hard: number; readonly soft: number; readonly score: number } | undefined;
  /** Wall time per rollout of the baseline, or of the first step if the cache knew the baseline. */
  readonly rolloutMs: number | undefined;
  readonly stepsDone: number;
  /** Attempts at training and validation tasks so far, also those that the cache knew. */
  readonly rollouts: number;
  /** Training tasks that were attempted with the skill of this hash. */
  readonly attempted: { readonly hash: string; readonly ids: readonly string[] };
  /** Parts that were left out on trial: see `removalKey`. */
  readonly removalsTried: readonly string[];
  /** After the search: how often the skill was tried with less, and what is left to be tried without. */
  readonly shortening?: { readonly tries: number; readonly next: readonly (readonly string[])[] };
  readonly draft: StepDraft;
  readonly history: readonly StepRecord[];
  /** Scores of whole passes: no text is measured twice. The last of a hash counts. A list, since it is copied at each step. */
  readonly evaluations: readonly Pass[];
  readonly gate: GateEvidence;
  /** The winner by fresh rollouts. */
  readonly finalMeasurement: FinalMeasurement | undefined;
  /** What earlier steps have tried, for the prompts of later ones. */
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
  readonly leaks: readonly Leak[];
  readonly memorisedShare: number | undefined;
  readonly searchEnd: SearchEnd | undefined;
  readonly isPruned: boolean;
  readonly final: { readonly hard: number; readonly soft: number; readonly score: number } | undefined;
  /** How many times runs have looked at the test tasks, with this one. */
  readonly testLooks: number | undefined;
  readonly tests: { readonly [subject in TestSubject]?: TestReport };
  /** The same task by task, by the metric of the gate. */
  readonly testEvidence: { readonly [subject in TestSubject]?: EvidenceTable };
  readonly usage: Readonly<Record<string, StageUsage>>;
  /** Attempts whose environment threw. */
  readonly threw: number;
  /** Why attempts failed, as long as nothing was right. */
  readonly failures: FailureTable;
  /** The optimizer's replies by stage: readable or not. */
  readonly answers: AnswerTable;
  readonly startedAt: string;
  readonly wallTimeMs: number;
  readonly isDone: boolean;
};

/** Names a part of what a step has added. */
export const removalKey = (step: number, passages: readonly string[]) => JSON.stringify([step, ...passages]);

export const unscored: ScoredSkill = { skill: '', hash: '', score: 0, step: 0, origin: 'initial' };

/** Raised when the state has another shape, or the same journal folds to another state: kept states are then ignored. */
export const STATE_FORMAT = 13;

export const emptyRun: RunState = {
  config: undefined,
  about: { env: '', target: '', optimizer: '' },
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
  testEvidence: {},
  usage: {},
  threw: 0,
  failures: {},
  answers: {},
  startedAt: '',
  wallTimeMs: 0,
  isDone: false,
};
