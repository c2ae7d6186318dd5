import type {
  AgentRunner,
  ChatModel,
  Item,
  PromptOverrides,
  RolloutRunner,
  SkillEnv,
  SkillOptConfig,
  SkillOptConfigInput,
} from '../core/contracts/index.ts';
import type {
  Amounts,
  OpenRunStore,
  RunObserver,
  RunState,
  RunStore,
  SkillSource,
  TrialAttempts,
} from '../core/run/index.ts';
import type { Budget } from '../models/index.ts';
import type { AcceptanceRule, Memory, StageDeps } from '../pipeline/index.ts';
import type { Ahead } from './ahead.ts';
import type { Commit } from './record/recorder.ts';
import type { RunItems } from './setup/run-items.ts';

export type TrainerOptions<I extends Item = Item> = {
  readonly config?: SkillOptConfigInput;
  readonly env: SkillEnv<I>;
  /** The frozen model whose skill is trained. Not needed where an agent does the work. */
  readonly target?: ChatModel | undefined;
  /** The model that reads trajectories and proposes edits. */
  readonly optimizer: ChatModel;
  /** A model that scores what no rule can, for environments that ask one. */
  readonly judge?: ChatModel | undefined;
  /** An agent with tools, for environments that give it a workspace. */
  readonly agent?: AgentRunner | undefined;
  /** Makes the attempts of tasks somewhere else than in this process. */
  readonly runner?: RolloutRunner | undefined;
  /** The document to start from; else the environment's own; else an empty one. */
  readonly initialSkill?: string;
  /** The file that `initialSkill` was read from: the run remembers it, for `skillopt apply`. */
  readonly skillSource?: SkillSource | undefined;
  /** The project file from the folder of the run: commands that the run advises name it. */
  readonly projectFile?: string | undefined;
  /** Whether the folder of the run has to be named too. */
  readonly isRunNamed?: boolean;
  /** Decides about candidates in place of the rule of `gate: paired`. */
  readonly gate?: AcceptanceRule | undefined;
  readonly promptOverrides?: PromptOverrides;
  readonly observers?: readonly RunObserver[];
  /** Stops the run: calls in flight may finish for ten seconds and are kept, then `train` rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Where the run is kept instead of in `config.outRoot`. */
  readonly store?: RunStore;
  /** Limits that it shares with other runs, in place of those of `config`. */
  readonly budget?: Budget | undefined;
};

/** Keeps back from the search what the final measurement needs. */
export type Reserve = {
  /** Estimates the amount again from what the run has cost so far. */
  keep(state: RunState): void;
  release(): void;
  /** What the run has spent of its limits so far. */
  spent(): Amounts;
  /** Deps of the final measurement, which continues after the search was stopped. */
  readonly deps: StageDeps;
};

/** What a run works with from its start to its end. Only its state changes, which stages hand on. */
export type Run = {
  readonly config: SkillOptConfig;
  readonly env: SkillEnv;
  readonly items: RunItems;
  readonly rule: AcceptanceRule | undefined;
  readonly deps: StageDeps;
  readonly ahead: Ahead;
  readonly commit: Commit;
  /** Writes the attempts of a try whose event comes later, with others. */
  readonly keepAttempts: (folder: string, attempts: TrialAttempts) => Promise<void>;
  /** Counts a look at the test tasks where others than this run read it. */
  readonly lookAtTest: OpenRunStore['lookAtTest'];
  readonly reserve: Reserve;
  readonly warn: (message: string) => void;
};

export function memoryOf(
  { stepBuffer, metaSkill }: RunState,
  { useStepBuffer, useMetaSkill }: Pick<SkillOptConfig, 'useStepBuffer' | 'useMetaSkill'>,
): Memory {
  return { stepBuffer: useStepBuffer ? stepBuffer : [], metaSkill: useMetaSkill ? metaSkill : '' };
}
