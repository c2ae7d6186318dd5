import {
  type ChatModel,
  type Item,
  type SkillEnv,
  SkillError,
  type SkillOptConfig,
} from '../../core/contracts/index.ts';
import { skillHash } from '../../core/text/index.ts';
import { fitValidation } from '../budget/validation-size.ts';

export type RunItems = Readonly<Record<'train' | 'val' | 'test', readonly Item[]>> & {
  /** Validation tasks that the rollouts cannot afford: nobody attempts them, and no edit may repeat them. */
  readonly spare?: readonly Item[];
};

type SplitConfig = Partial<SkillOptConfig> & Pick<SkillOptConfig, 'selectionSplit' | 'testSplit' | 'evalTest'>;

/** Loads what a run needs and checks it once: every later stage may trust it. */
export async function loadRunItems(env: SkillEnv, config: SplitConfig): Promise<RunItems> {
  const { selectionSplit, testSplit, evalTest } = config;
  const train = await env.getItems('train');
  const all = await splitItems(env, selectionSplit, config);
  const test = evalTest ? await splitItems(env, testSplit, config) : [];
  requireTrainSize(train.length, config);
  requireItems(env, 'train', train, 'There is nothing to learn from.');
  if (config.useGate !== false || config.finalPasses !== 0)
    requireItems(env, selectionSplit, all, 'The gate has nothing to measure on.');
  requireProtected(all, config);
  requireDistinctIds(env, { train, [selectionSplit]: all, [testSplit]: test });
  const { val, spare } = fitValidation(all, config);
  return { train, val, test, ...(spare.length > 0 ? { spare } : {}) };
}

/** The tasks of a split that a run takes, in file order. A split that is both takes the limit of validation. */
export async function splitItems<I extends Item>(env: SkillEnv<I>, split: string, config: SplitConfig) {
  const { selectionSplit, testSplit, selEnvNum = 0, testEnvNum = 0 } = config;
  const limit = { [testSplit]: testEnvNum, [selectionSplit]: selEnvNum }[split] ?? 0;
  const items = await env.getItems(split);
  return limit > 0 ? items.slice(0, limit) : items;
}

function requireTrainSize(found: number, { trainSize = 0 }: SplitConfig): void {
  if (trainSize === 0 || trainSize === found) return;
  throw new SkillError('CONFIG_INVALID', `trainSize is ${trainSize}, but the data has ${found} training tasks`, {
    hint: 'Correct trainSize, or leave it out: the number is taken from the data.',
  });
}

function requireProtected(val: readonly Item[], { protectedItems = [], selectionSplit }: SplitConfig): void {
  const ids = new Set(val.map(({ id }) => id));
  const unknown = protectedItems.filter((id) => !ids.has(id));
  if (unknown.length === 0) return;
  const message = `protectedItems names ${unknown.join(', ')}, which the ${selectionSplit} split does not have`;
  throw new SkillError('CONFIG_INVALID', message, { hint: `Name tasks of the ${selectionSplit} split by their id.` });
}

function requireItems(env: SkillEnv, split: string, items: readonly Item[], consequence: string): void {
  if (items.length > 0) return;
  throw new SkillError('TASKS_INVALID', `The ${split} split of ${env.name} is empty. ${consequence}`, {
    hint: `Give some tasks the split "${split}", or leave every split out to have them divided by ratio.`,
  });
}

/** A task in two splits would be learned from and measured on. */
function requireDistinctIds(env: SkillEnv, splits: Readonly<Record<string, readonly Item[]>>): void {
  const seen = new Map<string, string>();
  for (const [split, items] of Object.entries(splits)) {
    for (const { id } of items) {
      if (typeof id !== 'string') {
        const message = `${env.name}: an item of ${split} needs a text "id", got ${JSON.stringify(id)}`;
        throw new SkillError('TASKS_INVALID', message);
      }
      const other = seen.get(id);
      if (other !== undefined) {
        const where = other === split ? `twice in ${split}` : `in ${other} and in ${split}`;
        throw new SkillError('TASKS_INVALID', `${env.name}: the id "${id}" stands ${where}`, {
          hint: 'Give every task its own id.',
        });
      }
      seen.set(id, split);
    }
  }
}

/** A name for all tasks of a split: measuring the first few is still a look at this set. The environment must be set up. */
export async function hashTasks(env: SkillEnv, split: string): Promise<string> {
  return skillHash(JSON.stringify([env.name, env.version ?? '', await env.getItems(split)]));
}

export async function withEnv<I extends Item, T>(env: SkillEnv<I>, config: SkillOptConfig, work: () => Promise<T>) {
  await env.setup?.(config);
  try {
    return await work();
  } finally {
    await env.close?.();
  }
}

/** A target that reads texts alone would answer without a look at the images. */
export function requireImageReader<I extends Item>(
  { name, needsImages }: SkillEnv<I>,
  target: ChatModel | undefined,
): void {
  if (!needsImages || target === undefined || target.readsImages) return;
  throw new SkillError('CONFIG_INVALID', `${name} shows images, and the target ${target.id} reads texts alone`, {
    hint: 'Choose a target behind an API that reads images, such as openai:MODEL, anthropic:MODEL or google:MODEL. A model of your own says so with readsImages: true.',
  });
}
