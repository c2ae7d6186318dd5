import {
  type ChatModel,
  type PromptOverrides,
  parseConfig,
  type RolloutRunner,
  type SkillOptConfigInput,
} from '../../core/contracts/index.ts';
import type { TaskScorer } from '../../core/judge/index.ts';
import type { RunObserver, RunStore } from '../../core/run/index.ts';
import type { ProofLook } from '../../core/stats/index.ts';
import type { Budget } from '../../models/index.ts';
import type { LiveDocument } from '../documents/live-document.ts';
import type { SkillChoice } from '../documents/skills.ts';
import type { Handoff } from '../handoff/handoff.ts';
import type { ReplayModels } from '../replay/replay.ts';
import type { SleepEnvOptions, Trained } from '../replay/sleep-env.ts';
import type { OpenedWork } from '../replay/work.ts';
import { nightConfig, type SleepSettings } from '../settings/sleep-settings.ts';
import type { NightRecord } from '../state/nights.ts';
import type { SleepState } from '../state/sleep-state.ts';
import type { Tasks } from '../task-record.ts';

export type GatheredNight = Pick<
  NightRecord,
  'nSessions' | 'recurring' | 'notReplayable' | 'pooled' | 'tasks' | 'cursors' | 'notes'
> &
  Partial<Pick<NightRecord, 'cut' | 'unreadSessions'>>;

export type CycleInput = {
  readonly folder: string;
  readonly project: string;
  readonly agent: string;
  readonly settings: SleepSettings;
  readonly models: NightModels;
  /** Names all models: nights with other models cannot be compared. */
  readonly modelKey: string;
  /** The documents as they are, at most one of each kind. */
  readonly documents: readonly LiveDocument[];
  /** Finds the existing skills that tasks name. Without it, all tasks are for `documents`. */
  readonly chooseSkills?: ((tasks: Tasks) => Promise<SkillChoice>) | undefined;
  /** Called once, when a new night begins. Its model calls count within the limits of the night. */
  readonly gather: (state: SleepState, budget?: Budget) => Promise<GatheredNight>;
  /** Names a tasks file by its content; empty when the tasks come from sessions. Another name is another night. */
  readonly tasksFrom?: string | undefined;
  readonly now: () => Date;
  readonly redact: (text: string) => string;
  /** Limits and workers, over the settings. */
  readonly config?: SkillOptConfigInput | undefined;
  readonly scorers?: readonly TaskScorer[] | undefined;
  readonly runner?: RolloutRunner | undefined;
  /** Copies the project for an agent with tools: as it was at a commit, or as it is. */
  readonly openWork?: ((commit?: string) => Promise<OpenedWork>) | undefined;
  /** Set when the models are files that an agent session answers. */
  readonly handoff?: Handoff | undefined;
  /** Run the whole night and keep nothing of it. */
  readonly isDryRun?: boolean | undefined;
  readonly observers?: readonly RunObserver[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type NightInput = CycleInput & { readonly state: SleepState; readonly budget?: Budget | undefined };

export type NightModels = ReplayModels & { readonly optimizer: ChatModel };

/** Where the run of a document is kept. `named` is the name of an existing skill, or empty. */
export type StoreOf = (trained: Trained, named: string) => RunStore;

export type DocumentNight = Omit<SleepEnvOptions, 'name' | 'metric'> & {
  readonly models: NightModels;
  /** The name of an existing skill; empty for the managed skill, a target and the memory. */
  readonly named?: string | undefined;
  readonly config: SkillOptConfigInput;
  readonly store: RunStore;
  /** The limits of the night, in place of those of `config`. */
  readonly budget?: Budget | undefined;
  /** The error that a proof may make; `undefined` without a gate. */
  readonly error: number | undefined;
  readonly rolloutsK?: number | undefined;
  readonly promptOverrides?: PromptOverrides | undefined;
  /** When the evidence is looked at. Default: `PROOF_LOOKS`. */
  readonly proofLooks?: readonly ProofLook[] | undefined;
  /** For models that answer a wave of questions per round: asks now what the run, or the memory's run, will ask later. */
  readonly asksAhead?: { readonly handoff: Handoff; readonly evolveMemory: boolean } | undefined;
  readonly runner?: RolloutRunner | undefined;
  readonly observers?: readonly RunObserver[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

export const metricOf = (config: SkillOptConfigInput) => {
  const { gateMetric, gateMixedWeight } = parseConfig(config);
  return { gateMetric, gateMixedWeight };
};

export const nightConfigOf = ({ settings, config }: Pick<CycleInput, 'settings' | 'config'>): SkillOptConfigInput => ({
  ...nightConfig(settings),
  ...config,
});
