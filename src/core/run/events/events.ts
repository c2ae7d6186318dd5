import type { EnvCard, Evaluation, SkillOptConfig } from '../../contracts/index.ts';
import type { EditReport, FailurePattern, Patch, RawPatch } from '../../document/index.ts';
import type { Blame, FinalMeasurement, GateDecision } from '../gate-evidence.ts';
import type {
  DraftedTasks,
  LrDecision,
  Prune,
  Refusal,
  Removal,
  RunIdentity,
  Salvage,
  SearchEnd,
  Shortening,
  SkillSource,
  SlowUpdate,
  Stage,
  StepAction,
  TestSubject,
  TriedText,
} from './event-data.ts';
import {
  anything,
  candidate,
  type Definition,
  define,
  estimate,
  evaluation,
  failurePatterns,
  judged,
  listOf,
  listsIn,
  number,
  object,
  optional,
  orNull,
  pass,
  patch,
  refused,
  tableOf,
  taskIds,
  text,
  texts,
  truth,
} from './field.ts';

type OfStep = { readonly step: number };
type OfEpoch = { readonly epoch: number };

/**
 * Every kind of event except the ends of stages: the type of its data, and what is checked of lines without a check of their
 * own. A new kind is an entry here and a case in `reduce`.
 */
export const RUN_EVENTS = {
  'run-start': define<{
    readonly format: 1;
    readonly identity: RunIdentity;
    readonly config: SkillOptConfig;
    readonly env: string;
    readonly target: string;
    readonly optimizer: string;
    readonly initialSkill: string;
    readonly skillSource?: SkillSource;
    /** The project file, relative to the run, if the user named it. */
    readonly projectFile?: string;
    /** Whether the user named the folder of the run. */
    readonly isRunNamed?: boolean;
    readonly totalSteps: number;
    readonly items: Readonly<Record<string, number>>;
    readonly drafts?: DraftedTasks;
    /** Of a benchmark: under which rules and on which data its tasks are scored. */
    readonly card?: EnvCard;
    /** What is wrong with the tasks, or was read in another way than it stands in the file. */
    readonly aboutTasks?: readonly string[];
  }>({
    identity: tableOf(anything),
    config: tableOf(anything),
    initialSkill: text,
    skillSource: optional(object<SkillSource>({ path: text, digest: text })),
    projectFile: optional(text),
    isRunNamed: optional(truth),
    totalSteps: number,
    items: tableOf(number),
    drafts: optional(object<DraftedTasks>({ drafted: number, unreviewed: number })),
    card: optional(object<EnvCard>({ benchmark: text, rule: text, promptSha256: text, dataSha256: text })),
    aboutTasks: optional(listOf(text)),
  }),

  'baseline-end': define<{
    readonly evaluation: Evaluation;
    readonly score: number;
    /** Further passes of the same skill, which show its noise. */
    readonly passes?: readonly Evaluation[];
  }>({ evaluation, score: number, passes: optional(listOf(evaluation)) }),

  'step-start': define<{
    readonly step: number;
    readonly epoch: number;
    readonly stepInEpoch: number;
    /** Which candidate of this batch, from the second on. */
    readonly proposal?: number;
    /** `null` when nothing limits the edits. */
    readonly editBudget: number | null;
    readonly seed: number;
    readonly itemIds: readonly string[];
    /** How the tasks are divided when a step accumulates several batches. */
    readonly batches?: readonly { readonly seed: number; readonly size: number }[];
  }>({ step: number, epoch: number, stepInEpoch: number, editBudget: orNull(number), itemIds: taskIds }),

  'lr-decision': define<OfStep & LrDecision>({ step: number, learningRate: number }),

  'salvage-end': define<OfStep & Salvage>({
    step: number,
    tries: listOf(anything),
    evaluations: tableOf(pass),
    accepted: orNull(object<NonNullable<Salvage['accepted']>>({ ...candidate, ...judged, edits: listOf(number) })),
    asked: optional(number),
  }),

  'removal-end': define<OfStep & Removal>({ step: number, ...candidate, ...judged, of: number, removed: texts }),

  'step-end': define<OfStep & { readonly action: StepAction }>({ step: number, action: text }),

  'slow-update-end': define<OfEpoch & SlowUpdate>({
    epoch: number,
    ...candidate,
    ...judged,
    content: text,
    pairs: listOf(anything),
  }),

  'meta-skill-end': define<
    OfEpoch & {
      readonly action: 'write_meta_skill' | 'no_content';
      readonly content: string;
      readonly reasoning: string;
      readonly nClippedTrajectories?: number;
    }
  >({ epoch: number, action: text, content: text }),

  'epoch-end': define<OfEpoch>({ epoch: number }),

  'search-end': define<{ readonly reason: SearchEnd }>({ reason: text }),

  'shorten-end': define<Shortening>({ place: number, ...candidate, ...judged, removed: texts, next: listOf(texts) }),

  'prune-end': define<Prune>({
    removed: texts,
    skill: text,
    hash: text,
    score: number,
    evaluations: tableOf(pass),
    unscored: optional(number),
  }),

  'final-selection-end': define<{
    /** `null` when the text was measured before. */
    readonly evaluation: Evaluation | null;
    readonly score: number;
    readonly isPromoted: boolean;
  }>({ evaluation: orNull(evaluation), score: number, isPromoted: truth }),

  'test-look': define<{
    /** How many times these tasks were looked at, with this one. */
    readonly looks: number;
    /** Hash of the tasks. */
    readonly tasks: string;
  }>({ looks: number, tasks: text }),

  'test-end': define<{
    readonly subject: TestSubject;
    readonly evaluation: Evaluation;
    readonly taskTypes: readonly string[];
  }>({ subject: text, evaluation, taskTypes: texts }),

  /** Only in runs of an earlier version: see `chooseFinalist` in `reduce.ts`. */
  'finalists-end': define<{
    /** By passes of their own. */
    readonly finalists: readonly { readonly hash: string; readonly origin: string; readonly score: number }[];
    /** The one that measured best. */
    readonly hash: string;
  }>({ finalists: listOf(object({ hash: text, origin: text, score: number })), hash: text }),

  'final-measurement-end': define<FinalMeasurement>({
    hash: text,
    passes: listOf(evaluation),
    score: estimate,
    gain: estimate,
    isSeedBetter: truth,
    isClaimed: truth,
  }),

  'run-end': define<{
    /** Share of the training tasks of which the best skill repeats something that the initial one does not. */
    readonly memorisedShare?: number;
  }>({ memorisedShare: optional(number) }),
};

/** What a `stage-end` holds besides its `step` and its `stage`. */
export const STAGE_EVENTS = {
  rollout: define<{ readonly evaluation: Evaluation }>({ evaluation }),

  reflect: define<{ readonly patches: readonly RawPatch[]; readonly failurePatterns?: readonly FailurePattern[] }>({
    failurePatterns,
    patches: listOf(object<RawPatch>({ patch, sourceType: text, failurePatterns })),
  }),

  aggregate: define<{ readonly patch: Patch }>({ patch }),

  select: define<{
    readonly patch: Patch;
    /** Edits that give tasks away. */
    readonly refused?: readonly Refusal[];
    /** Edits that say nothing new. */
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
    /** Rewrites or reminders that give tasks away. */
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
    /** The candidate lost before it had met every item, or too many gave no result. */
    readonly isPartial?: boolean;
    /** Why an evaluation is invalid, under the strict gate. The other gate says it in its decision. */
    readonly invalidReason?: string;
    readonly decision?: GateDecision;
    readonly blame?: Blame;
  }>(judged),
} satisfies Record<Stage, Definition<unknown>>;

/** The definition of an event by its type, or of the end of a stage; `undefined` for a kind of a later version. */
export function findDefinition({ type, stage }: { type?: unknown; stage?: unknown }): Definition<unknown> | undefined {
  const table: Readonly<Record<string, Definition<unknown>>> = type === 'stage-end' ? STAGE_EVENTS : RUN_EVENTS;
  const name = String(type === 'stage-end' ? stage : type);
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

const definitions: Definition<unknown>[] = [...Object.values(RUN_EVENTS), ...Object.values(STAGE_EVENTS)];
const everyCheck = definitions
  .flatMap(({ checks }) => Object.entries(checks))
  .filter(([, { mapLists }]) => mapLists !== undefined);

/** A kind of a later version: fields with known names are read like those, since later lines build on the names in them. */
export const unknownKind = { mapLists: listsIn(Object.fromEntries(everyCheck)) ?? ((value: unknown) => value) };
