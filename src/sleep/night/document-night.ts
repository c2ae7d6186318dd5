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
import type { Documents } from '../replay/attempt.ts';
import type { NightWork } from '../replay/night-work.ts';
import type { Trained } from '../replay/sleep-env.ts';
import type { TaskRecord } from '../task-record.ts';
import type { Quarantine } from './quarantining.ts';

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
