import type { Bucket, SkillOptConfig } from '../contracts/index.ts';
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

/** What a skill scored in one pass over validation. */
type Pass = { readonly hash: string; readonly hard: number; readonly soft: number };

export type TestReport = {
  readonly hard: number;
  readonly soft: number;
  readonly n: number;
  readonly buckets: Readonly<Record<string, Bucket>>;
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
  /** What it tries, where it was quarantined. */
  readonly kind?: string;
};

export type RunState = {
  readonly config: SkillOptConfig | undefined;
  /** The environment's name and the identities of the models. */
  readonly about: { readonly env: string; readonly target: string; readonly optimizer: string };
  readonly totalSteps: number;
  readonly items: Readonly<Record<string, number>>;
  /** Of these tasks, those that a model drafted, if there are any. */
  readonly drafts?: DraftedTasks;
  readonly initialSkill: string;
  /** The file that it was read from, if it was, and if the run is of a version that wrote it down. */
  readonly skillSource?: SkillSource;
  /** The project file, from the folder of the run, if it has to be named. */
  readonly projectFile?: string;
  /** Whether the folder of the run has to be named too. */
  readonly isRunNamed?: boolean;
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
  /** The same task by task, by the score that the gate looks at: what a gain is proven with, and which tasks it is made of. */
  readonly testEvidence: { readonly [subject in TestSubject]?: EvidenceTable };
  readonly usage: Readonly<Record<string, StageUsage>>;
  /** Attempts whose environment threw, each as often as it was made. */
  readonly threw: number;
  /** Why attempts failed at which nothing was right, as far as the journal says it. */
  readonly failures: FailureTable;
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
export const STATE_FORMAT = 7;

/** A run before its first event. */
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
