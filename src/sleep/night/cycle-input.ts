import {
  type ChatModel,
  type PromptOverrides,
  parseConfig,
  type RolloutRunner,
  type SkillEnv,
  type SkillOptConfigInput,
} from '../../core/contracts/index.ts';
import type { TaskScorer } from '../../core/judge/index.ts';
import type { RunObserver, RunStore } from '../../core/run/index.ts';
import type { ProofLook } from '../../core/stats/index.ts';
import type { Budget } from '../../models/index.ts';
import type { LiveDocument } from '../documents/live-document.ts';
import type { SkillChoice } from '../documents/skills.ts';
import type { Handoff } from '../handoff/handoff.ts';
import type { Documents } from '../replay/replay.ts';
import type { Quarantine, Trained } from '../replay/sleep-env.ts';
import type { NightWork, OpenedWork } from '../replay/work.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import type { NightRecord } from '../state/nights.ts';
import type { SleepState } from '../state/sleep-state.ts';
import type { TaskRecord } from '../task-record.ts';

/** What a day's sessions gave, or a file of tasks. */
export type GatheredNight = Pick<
  NightRecord,
  'nSessions' | 'recurring' | 'notReplayable' | 'pooled' | 'tasks' | 'cursors' | 'notes'
> &
  Partial<Pick<NightRecord, 'cut'>>;

export type CycleInput = {
  /** The private state folder. */
  readonly folder: string;
  readonly project: string;
  /** Whose documents are trained: the name of an agent. */
  readonly agent: string;
  readonly settings: SleepSettings;
  readonly models: NightModels;
  /** Names all models: with others, nights cannot be compared. */
  readonly modelKey: string;
  /** The documents as they are; each at most once of its kind. */
  readonly documents: readonly LiveDocument[];
  /** Finds the existing skills that tasks name; without it all tasks are for the documents. */
  readonly chooseSkills?: ((tasks: readonly TaskRecord[]) => Promise<SkillChoice>) | undefined;
  /** Called once, when a new night begins: harvests and mines, or reads a file. What it asks a model is within the night's limits. */
  readonly gather: (state: SleepState, budget?: Budget) => Promise<GatheredNight>;
  /** Names a file of tasks and its content; nothing when they come from sessions. Another one is another night. */
  readonly tasksFrom?: string | undefined;
  readonly now: () => Date;
  readonly redact: (text: string) => string;
  /** Limits and workers, over the settings. */
  readonly config?: SkillOptConfigInput | undefined;
  readonly scorers?: readonly TaskScorer[] | undefined;
  readonly runner?: RolloutRunner | undefined;
  /** Where an agent with tools does the tasks: copies the project, as it was at a commit or as it is. */
  readonly openWork?: ((commit?: string) => Promise<OpenedWork>) | undefined;
  /** Where the models are files: whose they are. */
  readonly handoff?: Handoff | undefined;
  /** Does everything and keeps nothing. */
  readonly isDryRun?: boolean | undefined;
  readonly observers?: readonly RunObserver[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type NightModels = {
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly judge?: ChatModel | undefined;
};

type Foresee = (
  env: SkillEnv<TaskRecord>,
  night: DocumentNight,
  run: { readonly tasks: readonly TaskRecord[]; readonly seed: string },
) => SkillEnv<TaskRecord>;

export type DocumentNight = {
  readonly models: NightModels;
  readonly tasks: readonly TaskRecord[];
  readonly documents: Documents;
  readonly trained: Trained;
  /** The name of an existing skill that is trained; empty for the skill of our own, a target and the memory. */
  readonly named?: string | undefined;
  /** Texts of skills by hint, where tasks of several skills are attempted. */
  readonly skillTexts?: ReadonlyMap<string, string> | undefined;
  readonly config: SkillOptConfigInput;
  readonly store: RunStore;
  /** The limits of the night, in place of those of `config`. */
  readonly budget?: Budget | undefined;
  /** The error that a proof may make; nothing, when the person wants no gate. */
  readonly error: number | undefined;
  /** Attempts at each task of training. */
  readonly rolloutsK?: number | undefined;
  readonly name?: string | undefined;
  readonly notes?: readonly string[] | undefined;
  readonly scorers?: readonly TaskScorer[] | undefined;
  readonly prompt?: string | undefined;
  readonly promptOverrides?: PromptOverrides | undefined;
  readonly quarantine?: Quarantine | undefined;
  /** When the evidence is looked at. Default: `PROOF_LOOKS`. */
  readonly proofLooks?: readonly ProofLook[] | undefined;
  /** For models to which every wave of questions is a round: asks now what the run will ask later. */
  readonly foresee?: Foresee | undefined;
  readonly runner?: RolloutRunner | undefined;
  /** An agent with tools that does the tasks, in place of the target. */
  readonly work?: NightWork | undefined;
  readonly observers?: readonly RunObserver[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The metric by which a night's scores are compared. */
export const metricOf = (config: SkillOptConfigInput) => {
  const { gateMetric, gateMixedWeight } = parseConfig(config);
  return { gateMetric, gateMixedWeight };
};
