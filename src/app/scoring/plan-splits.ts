import { parseConfig, type SkillEnv, SkillError } from '../../core/contracts/index.ts';
import { splitItems, withEnv } from '../../train/index.ts';
import { testTasksOf } from '../count-look.ts';
import type { Wiring } from '../wire-run.ts';

/** Each of the splits that a run uses. */
export const ALL_SPLITS = 'all';

export type SplitPlan = {
  readonly names: readonly string[];
  /** How many tasks they have. */
  readonly count: number;
  /** Why other splits are not among them. */
  readonly leftOut: readonly string[];
  /** The hash of the test tasks, if they are among them. */
  readonly testTasks: string | undefined;
};

/** The splits that a document is scored on. Throws when there is nothing to score it on. */
export const planSplits = (wiring: Wiring, split: string): Promise<SplitPlan> =>
  withEnv(wiring.env, parseConfig(wiring.config), () => planInEnv(wiring, split));

async function planInEnv(wiring: Wiring, split: string): Promise<SplitPlan> {
  const { env, config } = wiring;
  if (split !== ALL_SPLITS) {
    const { length: count } = await splitItems(env, split, parseConfig(config));
    if (count === 0) throw emptySplit(env, split);
    return { names: [split], count, leftOut: [], testTasks: await testTasksOf(wiring, split) };
  }
  const { selectionSplit, testSplit } = parseConfig(config);
  const wanted = [...new Set(['train', selectionSplit, testSplit])];
  const reasons = new Map<string, string>();
  for (const name of wanted) {
    const reason = await whyEmpty(env, name);
    if (reason !== undefined) reasons.set(name, reason);
  }
  const names = wanted.filter((name) => !reasons.has(name));
  if (names.length === 0) throw emptySplit(env, wanted.join(', '));
  const testTasks = names.includes(testSplit) ? await testTasksOf(wiring, testSplit) : undefined;
  let count = 0;
  for (const name of names) count += (await splitItems(env, name, parseConfig(config))).length;
  return { names, count, leftOut: [...reasons.values()], testTasks };
}

/** An environment may have no such split at all, and say so. */
async function whyEmpty(env: SkillEnv, split: string): Promise<string | undefined> {
  try {
    return (await env.getItems(split)).length > 0 ? undefined : `the ${split} split of ${env.name} is empty`;
  } catch (error) {
    if (error instanceof SkillError && error.code === 'TASKS_INVALID') return error.message;
    throw error;
  }
}

function emptySplit(env: SkillEnv, split: string): SkillError {
  const hint = `Give some tasks the split "${split}", or choose another split.`;
  return new SkillError('TASKS_INVALID', `The ${split} split of ${env.name} is empty.`, { hint });
}
