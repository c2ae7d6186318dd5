import { type Item, knowsNoise, type SkillOptConfig, shuffle } from '../../core/contracts/index.ts';

/** Fewer tasks tell candidates apart too badly; more than a share of the rollouts leave too few steps. */
const [LEAST_TASKS, SHARE_OF_ROLLOUTS] = [30, 1 / 18];
/** A set that is only a little larger is used as it is. */
const SLACK = 1.5;
/** The most that one pass may take of all rollouts, as the baseline and the final measurement each do. */
const MOST_OF_PASS = 1 / 5;
const LEAST_OF_ALL = 8;

/** How many of `count` validation tasks `maxRollouts` can afford: enough to tell candidates apart, and few enough to try some. */
export function affordableSize(maxRollouts: number, count: number): number {
  const most = Math.max(LEAST_OF_ALL, Math.floor(MOST_OF_PASS * maxRollouts));
  const good = Math.max(LEAST_TASKS, Math.round(SHARE_OF_ROLLOUTS * maxRollouts));
  return count <= Math.min(most, SLACK * good) ? count : Math.min(count, most, good);
}

/** The least rollouts that use all tasks. */
export function rolloutsForAll(count: number): number {
  const bySlack = count <= SLACK * LEAST_TASKS ? 0 : Math.ceil((Math.ceil(count / SLACK) - 0.5) / SHARE_OF_ROLLOUTS);
  const byPass = count <= LEAST_OF_ALL ? 0 : Math.ceil(count / MOST_OF_PASS);
  return Math.max(bySlack, byPass);
}

type FitConfig = Partial<
  Pick<SkillOptConfig, 'fitValidation' | 'maxRollouts' | 'selEnvNum' | 'gate' | 'useGate' | 'seed' | 'protectedItems'>
>;

type FittedTasks = { readonly val: readonly Item[]; readonly spare: readonly Item[] };

/**
 * The validation tasks that the rollouts can afford, in file order, and those that are spared: a seeded sample with as large a
 * share of each type of task as the set has. Protected tasks are always in it.
 */
export function fitValidation(tasks: readonly Item[], config: FitConfig): FittedTasks {
  const size = fittedSize(tasks.length, config);
  if (size === tasks.length) return { val: tasks, spare: [] };
  const { seed = 0, protectedItems = [] } = config;
  const kept = new Set([...new Set([...protectedItems, ...inTurns(tasks, seed)])].slice(0, size));
  return { val: tasks.filter(({ id }) => kept.has(id)), spare: tasks.filter(({ id }) => !kept.has(id)) };
}

/** How many of `count` validation tasks a run uses. What the user chose wins. */
export function fittedSize(count: number, config: FitConfig): number {
  const { fitValidation: isOn = false, maxRollouts, selEnvNum = 0, gate, useGate = true, protectedItems = [] } = config;
  const isFitted = isOn && selEnvNum === 0 && knowsNoise(gate) && useGate;
  if (!isFitted || maxRollouts === undefined) return count;
  return Math.min(count, Math.max(protectedItems.length, affordableSize(maxRollouts, count)));
}

/** Ids in a seeded order in which the first few are of all types in the proportions of the set. */
function inTurns(tasks: readonly Item[], seed: number): string[] {
  const byType = new Map<string, Item[]>();
  for (const task of shuffle(tasks, seed)) {
    const type = typeOf(task);
    byType.set(type, [...(byType.get(type) ?? []), task]);
  }
  const placed = [...byType.values()].flatMap((group) =>
    group.map(({ id }, place) => ({ id, quantile: (place + 0.5) / group.length })),
  );
  return placed.sort((a, b) => a.quantile - b.quantile).map(({ id }) => id);
}

const typeOf = ({ taskType }: Item & { readonly taskType?: unknown }) => (typeof taskType === 'string' ? taskType : '');

/** «48 of 120 validation tasks are used»; `undefined` where all are. */
export function sizeWords({ val, spare = [] }: { val: Sized; spare?: Sized }, maxRollouts: number | undefined) {
  if (spare.length === 0 || maxRollouts === undefined) return undefined;
  const all = val.length + spare.length;
  const enough = rolloutsForAll(all).toLocaleString('en-US');
  return `${val.length} of ${all} validation tasks are used: maxRollouts: ${maxRollouts} pays for no more; ${enough} would use all.`;
}

type Sized = { readonly length: number };
