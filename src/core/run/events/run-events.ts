import type { SkillOptConfig } from '../../config.ts';
import type { FinalMeasurement } from '../../gate/gate-decision.ts';
import type { Evaluation } from '../../score.ts';
import type { StepAction } from '../step-action.ts';
import { candidate, estimate, evaluation, judged, pass, taskIds, texts } from './common-fields.ts';
import type {
  DraftedTasks,
  LrDecision,
  Prune,
  Removal,
  RunIdentity,
  Salvage,
  SearchEnd,
  SkillSource,
  SlowUpdate,
  TestSubject,
} from './event-data.ts';
import { anything, define, listOf, number, object, optional, orNull, tableOf, text, truth } from './field.ts';

type OfStep = { readonly step: number };
type OfEpoch = { readonly epoch: number };

/**
 * Every kind of event but the ends of stages, each defined once: its data as a type, and what is checked of a line from
 * before lines had checks of their own. A new kind is an entry here and a case in `reduce`.
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
    /** The file that it was read from, if it was. */
    readonly skillSource?: SkillSource;
    /** The project file, from the folder of the run, if it was named and not found. */
    readonly projectFile?: string;
    /** Whether the folder of the run was named. */
    readonly isRunNamed?: boolean;
    readonly totalSteps: number;
    readonly items: Readonly<Record<string, number>>;
    /** Only where a model drafted some of them. */
    readonly drafts?: DraftedTasks;
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
  }),

  'baseline-end': define<{
    readonly evaluation: Evaluation;
    readonly score: number;
    /** Further passes of the same skill, which tell its noise. */
    readonly passes?: readonly Evaluation[];
  }>({ evaluation, score: number, passes: optional(listOf(evaluation)) }),

  'step-start': define<{
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

  'search-end': define<{
    /** The skill passes every validation task, or what `maxRollouts` allows is used up. */
    readonly reason: SearchEnd;
  }>({ reason: text }),

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

  /** Of an earlier version: see `reduce/finalists.ts`. */
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
