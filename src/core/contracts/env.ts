import { z } from 'zod';
import type { RawPatch } from '../document/index.ts';
import type { AgentRunner } from './agent.ts';
import type { SkillOptConfig } from './config.ts';
import { ModelCallError, SkillError } from './errors.ts';
import type { ChatModel } from './model.ts';
import type { RolloutResult } from './score.ts';

/** A task. Anything may stand beside the id; what is in it is the environment's business. */
export type Item = { readonly id: string };

export type RolloutContext<I extends Item = Item> = {
  readonly item: I;
  /** The skill document's text, usually put into the system prompt. */
  readonly skill: string;
  /** The frozen agent. Calls through it are retried, cached and counted. */
  readonly target: ChatModel;
  /** A model that scores what no rule can, if the run was given one. Handled as the target is. */
  readonly judge?: ChatModel;
  /** An agent with tools, if the run was given one. The environment gives it a workspace and the skill. */
  readonly agent?: AgentRunner;
  /** Free-form values of the run's configuration. */
  readonly extras: Readonly<Record<string, unknown>>;
  /** Aborted when the run must stop now or the task's time is up. Pass it on to whatever waits. */
  readonly signal: AbortSignal;
};

/** Many items to attempt at once. The models and the signal are as in a rollout of one. */
export type RolloutManyContext<I extends Item = Item> = Omit<RolloutContext<I>, 'item'> & {
  readonly items: readonly I[];
  /** What the results are for: to learn from, or to measure with. */
  readonly phase: 'train' | 'eval';
  /** Which draw of the items: another index asks for results that are independent of these. */
  readonly sampleIndex: number;
};

/** What an epoch needs. Counts from 1; `seed` is the run's. */
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
  /** Most edits that this step applies. `null`: no limit. */
  readonly editBudget: number | null;
  readonly seed: number;
  /** Which draw of proposals from these results, from 0: analysts of one's own should ask with it. */
  readonly sampleIndex: number;
  /** Calls through it are retried, cached and counted. */
  readonly optimizer: ChatModel;
  /** What the shared analysts propose for these results. They are asked when it is called, and only then. */
  reflectByDefault(): Promise<RawPatch[]>;
  readonly signal: AbortSignal;
};

/**
 * Where tasks come from and how one is attempted and scored. `rolloutOne` may throw: that task then counts as
 * failed, with the error as reason. When more than half of a stage's tasks throw, and at least two, that is no score: the run
 * stops with `ENV_FAILED`, unless they throw under a candidate alone: that is then rejected. A `ModelCallError`, of the target or any other model, is never a score: it stops the run.
 */
export interface SkillEnv<I extends Item = Item> {
  readonly name: string;
  /** Changes whenever the same item could score differently, so that no stale rollout is reused. */
  readonly version?: string;
  /** Whether `version` covers all that scoring depends on: then a new run in place of another uses its attempts again. */
  readonly isVersionWhole?: boolean;
  /** Replaces optimizer prompts by name. */
  readonly prompts?: PromptOverrides;
  /** How often a rollout asks the judge, for estimates. Once, unless it is said. */
  readonly judgeCalls?: number;
  /** What a person should know about the tasks before a run, such as what of a file is left out. */
  readonly warnings?: readonly string[];
  /** How many of the tasks a model drafted, and how many of those nobody reviewed: every report says so. */
  readonly drafts?: { readonly drafted: number; readonly unreviewed: number } | undefined;
  getItems(split: string): readonly I[] | Promise<readonly I[]>;
  rolloutOne(context: RolloutContext<I>): Promise<RolloutOutput>;
  /**
   * For environments that attempt a batch at once; called instead of `rolloutOne`. One result per item: matched by
   * `id` where the results have one, else by position.
   */
  rolloutMany?(context: RolloutManyContext<I>): Promise<readonly RolloutOutput[]>;
  /**
   * The items of an epoch's training batches, in order, for environments whose tasks belong together. Without it, the
   * training items are shuffled and sliced.
   */
  planTrainEpoch?(plan: EpochPlan): readonly (readonly I[])[];
  /** Replaces the shared analysts. `null` proposes nothing. */
  reflect?(context: ReflectContext): Promise<readonly (RawPatch | null)[]>;
  /** Called before anything else is asked; again only after `close`. */
  setup?(config: SkillOptConfig): void | Promise<void>;
  /** Called when nothing more is asked, also after a failure. */
  close?(): void | Promise<void>;
  getInitialSkill?(): string | Promise<string>;
  getTaskTypes?(): readonly string[];
  /** What stands around the trained text, and what else analysts should know: they read it, and no edit can touch it. */
  readonly surroundings?: string;
  /**
   * Why a text may not become a part of the skill, if so: an edit with it is then refused, and the record says why. With a
   * kind, it is quarantined: shown to a person as what it is.
   */
  refuseText?(text: string): string | { readonly kind: string; readonly reason: string } | undefined;
  /**
   * Why a candidate could not be used, though its parent can: a script of it that does not parse, say. It is then not measured,
   * which is another thing than a loss, and the record says why. Asked before anything is paid for.
   */
  checkSkill?(candidate: string, parent: string): string | undefined | Promise<string | undefined>;
  /**
   * Tries what scores the tasks, without asking a model, and answers with what was seen. Throws when it cannot tell good work
   * from bad. Only `doctor` asks.
   */
  tryScoring?(): string | Promise<string>;
}

/** A rollout result whose `id` may be left out: it is the item's. */
export type RolloutOutput = Omit<RolloutResult, 'id'> & { readonly id?: string };

type EnvDefinition<Schema extends z.ZodType<Item>> = {
  readonly name: string;
  readonly version?: string;
  /** Checked once for every item, so that `rolloutOne` never meets a malformed one. */
  readonly schema: Schema;
  readonly items: Readonly<Record<string, readonly z.input<Schema>[]>>;
  readonly initialSkill?: string;
  readonly taskTypes?: readonly string[];
  readonly prompts?: PromptOverrides;
  /** How often a rollout asks the judge, for estimates. Once, unless it is said. */
  readonly judgeCalls?: number;
  rolloutOne(context: RolloutContext<z.output<Schema>>): Promise<RolloutOutput>;
};

/** An environment from a zod schema, items per split, and a function: `item` is typed by the schema. */
export function defineEnv<Schema extends z.ZodType<Item>>(
  definition: EnvDefinition<Schema>,
): SkillEnv<z.output<Schema>> {
  requireParts(definition);
  const { name, version, prompts, judgeCalls, initialSkill, taskTypes } = definition;
  return {
    name,
    ...(version === undefined ? {} : { version }),
    ...(prompts === undefined ? {} : { prompts }),
    ...(judgeCalls === undefined ? {} : { judgeCalls }),
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

/** For environments that bring their own agent. A run that asks it all the same has no score to give. */
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

/** The optimizer's prompts, each of which a user or an environment may replace by name. */
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

/** One attempt at one task. */
export type RolloutAttempt = {
  /** A hash of everything that the score depends on: the same key is the same attempt. */
  readonly key: string;
  readonly skill: string;
  readonly item: Item;
  /** Which draw of the item. */
  readonly sampleIndex: number;
};

/**
 * Makes the attempts of a run somewhere else, such as in other processes. Without one a run makes them itself. Environments
 * with `rolloutMany` always run in this process.
 */
export interface RolloutRunner {
  /**
   * A task whose code throws is a result. Throws `ModelCallError` when a model could not be reached, which is no score, and
   * anything else when the run must stop. Once the signal is aborted, its reason.
   */
  run(attempt: RolloutAttempt, signal: AbortSignal): Promise<RolloutResult>;
}
