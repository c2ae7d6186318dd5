import { z } from 'zod';
import type { RawPatch } from '../document/index.ts';
import type { AgentRunner } from './agent.ts';
import type { SkillOptConfig } from './config.ts';
import { ModelCallError, SkillError } from './errors.ts';
import type { ChatModel, Usage } from './model.ts';
import type { RolloutResult } from './score.ts';

/** A task. The environment decides what stands beside the id. */
export type Item = { readonly id: string };

export type RolloutContext<I extends Item = Item> = {
  readonly item: I;
  readonly skill: string;
  /** Calls through it are retried, cached and counted. */
  readonly target: ChatModel;
  readonly judge?: ChatModel;
  readonly agent?: AgentRunner;
  readonly extras: Readonly<Record<string, unknown>>;
  /** Where work that was paid for and has no score is kept until it is judged, and which draw of the task this is. */
  readonly keptWork?: { readonly folder: string; readonly sampleIndex: number };
  /** Aborted when the run must stop or the task's time is up. */
  readonly signal: AbortSignal;
};

export type RolloutManyContext<I extends Item = Item> = Omit<RolloutContext<I>, 'item'> & {
  readonly items: readonly I[];
  /** Whether the results are to learn from, or to measure with. */
  readonly phase: 'train' | 'eval';
  readonly sampleIndex: number;
};

/** What an epoch needs. `epoch` counts from 1; `seed` is the run's. */
export type EpochPlan = {
  readonly epoch: number;
  readonly batches: number;
  readonly batchSize: number;
  readonly seed: number;
};

/** A step's results, to be turned into proposals. */
export type ReflectContext = {
  readonly results: readonly RolloutResult[];
  readonly skill: string;
  /** The most edits of this step. `null`: no limit. */
  readonly editBudget: number | null;
  readonly seed: number;
  /** Which draw of proposals from these results, from 0. */
  readonly sampleIndex: number;
  readonly optimizer: ChatModel;
  /** Asks the shared analysts, only when it is called. */
  reflectByDefault(): Promise<RawPatch[]>;
  readonly signal: AbortSignal;
};

/**
 * Where tasks come from, and how one is attempted and scored. A task whose `rolloutOne` throws counts as failed, with the error
 * as reason. When more than half of a stage's tasks throw, and at least two, the run stops with `ENV_FAILED`, or the candidate
 * is rejected if they throw under it alone. A `ModelCallError` is never a score: it stops the run.
 */
export interface SkillEnv<I extends Item = Item> {
  readonly name: string;
  /** Changes whenever the same item could score differently: rollouts are cached under it. */
  readonly version?: string;
  /** Whether `version` covers all that scoring depends on. Then a new run reuses the attempts of an older one. */
  readonly isVersionWhole?: boolean;
  readonly prompts?: PromptOverrides;
  /** How often a rollout asks the judge, for estimates; 1 by default. */
  readonly judgeCalls?: number;
  /** How often an attempt asks the target, at least and at most, for estimates; once by default. */
  readonly targetCalls?: { readonly low: number; readonly high: number };
  /** What a person should know about the tasks before a run. */
  readonly warnings?: readonly string[];
  /** What stands beside a result, so that others can repeat it. */
  readonly card?: EnvCard;
  /** Whether tasks have images: a target that reads texts alone is then refused. */
  readonly needsImages?: true;
  /** How many tasks a model drafted, and how many of those nobody reviewed. */
  readonly drafts?: { readonly drafted: number; readonly unreviewed: number } | undefined;
  getItems(split: string): readonly I[] | Promise<readonly I[]>;
  rolloutOne(context: RolloutContext<I>): Promise<RolloutOutput>;
  /** Called instead of `rolloutOne`, with a batch. One result per item: matched by `id` if there is one, else by position. */
  rolloutMany?(context: RolloutManyContext<I>): Promise<readonly RolloutOutput[]>;
  /** The training batches of an epoch. Without it, the training items are shuffled and sliced. */
  planTrainEpoch?(plan: EpochPlan): readonly (readonly I[])[];
  /** Replaces the shared analysts. `null` proposes nothing. */
  reflect?(context: ReflectContext): Promise<readonly (RawPatch | null)[]>;
  /** Called before anything else is asked; again only after `close`. */
  setup?(config: SkillOptConfig): void | Promise<void>;
  /** Called when nothing more is asked, also after a failure. */
  close?(): void | Promise<void>;
  getInitialSkill?(): string | Promise<string>;
  getTaskTypes?(): readonly string[];
  /** What analysts read beside the trained text. No edit can touch it. */
  readonly surroundings?: string;
  /** Why a text may not become a part of the skill. Its edit is then refused; with a kind, it is quarantined and shown to a person. */
  refuseText?(text: string): string | { readonly kind: string; readonly reason: string } | undefined;
  /** Why a candidate cannot be used, such as a script that does not parse. It is then not measured, and the record says why. */
  checkSkill?(candidate: string, parent: string): string | undefined | Promise<string | undefined>;
  /** Tries the scoring without a model, and says what was seen. Throws when the scoring cannot distinguish good work from bad. Asked before a new run. */
  tryScoring?(): ScoringTrial | Promise<ScoringTrial>;
}

/** Under which rules, and on which data, tasks of a benchmark are scored. */
export type EnvCard = {
  readonly benchmark: string;
  /** How an answer is scored, in words. */
  readonly rule: string;
  /** SHA-256 of all that the target reads besides skill and task. */
  readonly promptSha256: string;
  /** SHA-256 of all tasks in all splits. */
  readonly dataSha256: string;
};

/** What was seen when scoring was tried where nothing was done. */
export type ScoringTrial = {
  readonly detail: string;
  /** What a person should look at before a run. */
  readonly warning?: string;
  /** Whether all was well where nothing was done: then no score says anything. */
  readonly passesAll?: boolean;
};

/** A rollout result; without `id` it is the item's. */
export type RolloutOutput = Omit<RolloutResult, 'id'> & { readonly id?: string };

type EnvDefinition<Schema extends z.ZodType<Item>> = Pick<
  SkillEnv,
  'name' | 'version' | 'prompts' | 'judgeCalls' | 'targetCalls' | 'needsImages'
> & {
  /** Checks every item once, so that `rolloutOne` never meets a malformed one. */
  readonly schema: Schema;
  readonly items: Readonly<Record<string, readonly z.input<Schema>[]>>;
  readonly initialSkill?: string;
  readonly taskTypes?: readonly string[];
  rolloutOne(context: RolloutContext<z.output<Schema>>): Promise<RolloutOutput>;
};

/** An environment from a zod schema, items per split, and a function. */
export function defineEnv<Schema extends z.ZodType<Item>>(
  definition: EnvDefinition<Schema>,
): SkillEnv<z.output<Schema>> {
  requireParts(definition);
  const { name, version, prompts, judgeCalls, targetCalls, needsImages, initialSkill, taskTypes } = definition;
  return {
    name,
    ...(version === undefined ? {} : { version }),
    ...(prompts === undefined ? {} : { prompts }),
    ...(judgeCalls === undefined ? {} : { judgeCalls }),
    ...(targetCalls === undefined ? {} : { targetCalls }),
    ...(needsImages === undefined ? {} : { needsImages }),
    ...(initialSkill === undefined ? {} : { getInitialSkill: () => initialSkill }),
    ...(taskTypes === undefined ? {} : { getTaskTypes: () => taskTypes }),
    getItems: (split) =>
      (definition.items[split] ?? []).map((item, index) => parseItem(definition, split, item, index)),
    rolloutOne: (context) => definition.rolloutOne(context),
  };
}

/** Types say this too, but an environment may be plain JavaScript. */
function requireParts({ name, schema, items, rolloutOne }: EnvDefinition<z.ZodType<Item>>): void {
  const isThere = {
    'schema, a zod schema of an item': typeof schema?.safeParse === 'function',
    'items, lists by split': typeof items === 'object' && items !== null,
    'rolloutOne, a function': typeof rolloutOne === 'function',
  };
  const missing = Object.entries(isThere).flatMap(([part, isGiven]) => (isGiven ? [] : [part]));
  if (missing.length === 0) return;
  throw new SkillError('ENV_INVALID', `defineEnv of ${JSON.stringify(name)} lacks ${missing.join('; ')}`, {
    hint: 'defineEnv({ name, schema: z.object({ id: z.string() }), items: { train, val, test }, rolloutOne })',
  });
}

function parseItem<Schema extends z.ZodType<Item>>(
  { name, schema }: EnvDefinition<Schema>,
  split: string,
  item: unknown,
  index: number,
): z.output<Schema> {
  const result = schema.safeParse(item);
  if (result.success) return result.data;
  const problem = z.prettifyError(result.error).replaceAll('\n', ' ');
  throw new SkillError('TASKS_INVALID', `${name}: item ${index + 1} of ${split}: ${problem}`);
}

/** For environments that bring their own agent. */
export const noTarget: ChatModel = {
  id: 'none',
  isFree: true,
  complete: async () => {
    const hint = 'Name the model that the environment asks: target: provider:model';
    throw new ModelCallError('the environment asked the target, and there is none', {
      isRetryable: false,
      isFatal: true,
      hint,
    });
  },
};

/** The optimizer's prompts. A user or an environment may replace each by name. */
export const PROMPT_NAMES = [
  'analyst_error',
  'analyst_success',
  'merge_failure',
  'merge_success',
  'merge_final',
  'ranking',
  'analyst_error_rewrite',
  'analyst_success_rewrite',
  'merge_failure_rewrite',
  'merge_success_rewrite',
  'merge_final_rewrite',
  'ranking_rewrite',
  'rewrite',
  'analyst_error_full_rewrite',
  'analyst_success_full_rewrite',
  'merge_failure_full_rewrite',
  'merge_success_full_rewrite',
  'merge_final_full_rewrite',
  'lr_autonomous',
  'slow_update',
  'meta_skill',
  'appendix_consolidate',
  'skill_aware_failure',
  'skill_aware_success',
] as const;
export type PromptName = (typeof PROMPT_NAMES)[number];
export type PromptOverrides = { readonly [name in PromptName]?: string | undefined };

export type RolloutAttempt = {
  /** A hash of everything that the score depends on: the same key is the same attempt. */
  readonly key: string;
  readonly skill: string;
  readonly item: Item;
  readonly sampleIndex: number;
};

/** What a runner has paid for by itself. */
export type RunnerBill = {
  readonly calls: number;
  readonly usage: Usage;
  readonly costUsd?: number | undefined;
};

export type RunnerAnswer = {
  readonly result: RolloutOutput;
  /** Calls through the models of the context are counted where they are made. Without bills an attempt counts as `most`. */
  readonly bills?: readonly RunnerBill[] | undefined;
  /** How often the runner asked again, and how long its calls waited in line. */
  readonly retries?: number | undefined;
  readonly waitMs?: number | undefined;
};

/** What an attempt may use, as it may in `rolloutOne`. Calls through these models are limited, retried, cached and counted. */
export type RunnerContext = Omit<RolloutContext, 'item' | 'skill' | 'keptWork'> & {
  /** Says that the attempt begins now, and so does its time: for one that waited in line, or that begins again. */
  readonly begin: () => void;
};

/** Makes the attempts of a run elsewhere, such as in other processes. Environments with `rolloutMany` always run in this process. */
export interface RolloutRunner {
  /** The most that one attempt pays for by itself: none begins that could exceed a limit of the run. Default: one call. */
  readonly most?: { readonly calls?: number; readonly totalTokens?: number; readonly costUsd?: number };
  /**
   * A task whose code throws is a result. Throws `ModelCallError` when a model could not be reached, the signal's reason once it
   * is aborted, and anything else when the run must stop. A runner that does not answer in time is an outage, and no result.
   */
  run(attempt: RolloutAttempt, context: RunnerContext): Promise<RunnerAnswer>;
  /** Called by the trainer when the run is over, also after a failure. Others who use a runner close it themselves. */
  close?(): Promise<void>;
}
