import { z } from 'zod';
import { SkillError } from './errors.ts';
import type { ChatModel } from './model.ts';
import type { PromptOverrides } from './prompt-name.ts';
import type { RolloutResult } from './rollout-result.ts';

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
  /** Free-form values of the run's configuration. */
  readonly extras: Readonly<Record<string, unknown>>;
  /** Aborted when the run must stop now or the task's time is up. Pass it on to whatever waits. */
  readonly signal: AbortSignal;
};

/**
 * Where tasks come from and how one is attempted and scored. `rolloutOne` may throw: that task then counts as
 * failed, with the error as reason. A `ModelCallError`, of the target or any other model, is never a score: it stops
 * the run.
 */
export interface SkillEnv<I extends Item = Item> {
  readonly name: string;
  /** Changes whenever the same item could score differently, so that no stale rollout is reused. */
  readonly version?: string;
  /** Replaces optimizer prompts by name. */
  readonly prompts?: PromptOverrides;
  getItems(split: string): readonly I[] | Promise<readonly I[]>;
  rolloutOne(context: RolloutContext<I>): Promise<RolloutOutput>;
  getInitialSkill?(): string | Promise<string>;
  getTaskTypes?(): readonly string[];
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
  rolloutOne(context: RolloutContext<z.output<Schema>>): Promise<RolloutOutput>;
};

/** An environment from a zod schema, items per split, and a function: `item` is typed by the schema. */
export function defineEnv<Schema extends z.ZodType<Item>>(
  definition: EnvDefinition<Schema>,
): SkillEnv<z.output<Schema>> {
  const { name, version, prompts, initialSkill, taskTypes } = definition;
  return {
    name,
    ...(version === undefined ? {} : { version }),
    ...(prompts === undefined ? {} : { prompts }),
    ...(initialSkill === undefined ? {} : { getInitialSkill: () => initialSkill }),
    ...(taskTypes === undefined ? {} : { getTaskTypes: () => taskTypes }),
    getItems: (split) =>
      (definition.items[split] ?? []).map((item, index) => parseItem(definition, split, item, index)),
    rolloutOne: (context) => definition.rolloutOne(context),
  };
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
