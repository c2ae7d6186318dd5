import type { RolloutRunner, SkillOptConfigInput } from '../../core/contracts/index.ts';
import type { TaskScorer } from '../../core/judge/index.ts';
import type { RunObserver } from '../../core/run/index.ts';
import type { Budget } from '../../models/index.ts';
import type { SkillChoice } from '../documents/choose-skills.ts';
import type { LiveDocument } from '../documents/live-document.ts';
import type { Handoff } from '../handoff/handoff.ts';
import type { OpenedWork } from '../replay/night-work.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import type { SleepState } from '../state/sleep-state.ts';
import type { TaskRecord } from '../task-record.ts';
import type { NightModels } from './document-night.ts';
import type { NightRecord } from './night-record.ts';

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
