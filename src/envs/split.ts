import { type Item, SkillError, shuffle } from '../core/contracts/index.ts';
import { groupBy, plural } from '../core/text/index.ts';
import { checkUniqueIds, type Row, tasksInvalid } from '../imports/index.ts';

/**
 * Each row's task in exactly one split, in the order of the rows: where its row says, or, if no row says anything, by
 * ratio after a shuffle with the seed. Throws `TASKS_INVALID` for an unknown split, for rows of which only some name
 * one, and for an id that occurs twice.
 */
export function splitItems<T extends Item>(rows: readonly Row<T>[], options: SplitOptions): Splits<T> {
  checkUniqueIds(rows);
  const names = rows.some((row) => row.split !== undefined) ? namedSplits(rows) : drawnSplits(rows.length, options);
  const itemsOf = (name: SplitName) => rows.filter((_, index) => names[index] === name).map((row) => row.value);
  return { train: itemsOf('train'), val: itemsOf('val'), test: itemsOf('test') };
}

function namedSplits(rows: readonly Row[]): (SplitName | undefined)[] {
  const missing = rows.filter((row) => row.split === undefined);
  if (missing[0]) {
    const problem = `${missing[0].where}: ${missing.length} of ${rows.length} rows have no "split", this one first`;
    throw tasksInvalid([problem], 'Give every row a split, or none to have them split by ratio.');
  }
  const unknown = rows.filter((row) => !toSplitName(row.split!));
  if (unknown.length > 0)
    throw tasksInvalid(unknown.map(describeUnknown), 'train is learned from, val decides, test is only reported.');
  return rows.map((row) => toSplitName(row.split!));
}

function describeUnknown({ where, split }: Row): string {
  return `${where}: "split" must be one of ${KNOWN_SPLITS}, got ${JSON.stringify(split)}`;
}

function drawnSplits(total: number, options: SplitOptions): SplitName[] {
  const names: SplitName[] = Array(total);
  for (const [name, indices] of Object.entries(drawSplits(total, options)) as [SplitName, number[]][]) {
    for (const index of indices) names[index] = name;
  }
  return names;
}

export type Splits<T> = { readonly [Name in SplitName]: readonly T[] };

export type SplitOptions = {
  /** Shares of train, val and test, when the rows name no splits. */
  readonly ratio?: string;
  readonly seed: number;
};

/** The numbers from 0 to `total` in three splits by ratio, each in the order in which the seed drew them. */
export function drawSplits(total: number, { ratio = '4:3:3', seed }: SplitOptions): Splits<number> {
  const [train = 0, val = 0] = apportion(total, parseRatio(ratio));
  const order = shuffle([...Array(total).keys()], seed);
  return { train: order.slice(0, train), val: order.slice(train, train + val), test: order.slice(train + val) };
}

type Ratio = readonly [train: number, val: number, test: number];

const NUMBER = /^\d+(?:\.\d+)?$/;

/** Reads `4:3:3`, also with spaces. Throws `CONFIG_INVALID` unless it is three positive numbers. */
function parseRatio(text: string): Ratio {
  if (isRatio(text)) return partsOf(text).map(Number) as unknown as Ratio;
  throw new SkillError('CONFIG_INVALID', `ratio: expected three positive numbers such as 4:3:3, got "${text}"`, {
    hint: 'The numbers are the shares of train, val and test.',
  });
}

export function isRatio(text: string): boolean {
  const parts = partsOf(text);
  return parts.length === 3 && parts.every((part) => NUMBER.test(part) && Number(part) > 0);
}

const partsOf = (text: string) =>
  text
    .split(':')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/**
 * Whole numbers that add up to `total`: every share rounded down, and what is left goes to the largest remainders,
 * between equal ones to the greater weight.
 */
export function apportion(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const shares = weights.map((weight, index) => {
    const exact = (total * weight) / sum;
    return { index, weight, count: Math.floor(exact), remainder: exact - Math.floor(exact) };
  });
  const left = total - shares.reduce((counted, share) => counted + share.count, 0);
  const next = shares.toSorted((a, b) => b.remainder - a.remainder || b.weight - a.weight).slice(0, left);
  return shares.map((share) => share.count + (next.includes(share) ? 1 : 0));
}

export type SplitName = 'train' | 'val' | 'test';

/** Each split with the names it may be called by. The longer names are those of the reference's data. */
const SPLIT_OF = new Map<string, SplitName>([
  ['train', 'train'],
  ['val', 'val'],
  ['test', 'test'],
  ['selection', 'val'],
  ['valid_seen', 'val'],
  ['valid_unseen', 'test'],
]);

export const SPLIT_NAMES: readonly SplitName[] = ['train', 'val', 'test'];

/** Every name that a split may be called by, for messages. */
const KNOWN_SPLITS = [...SPLIT_OF.keys()].join(', ');

/** The split that a name or an alias means, if it means one. */
function toSplitName(text: string): SplitName | undefined {
  return SPLIT_OF.get(text);
}

/** The same, or `TASKS_INVALID`: measuring on another split than was asked for would be a silent mistake. */
export function requireSplitName(text: string, asker: string): SplitName {
  const name = toSplitName(text);
  if (name !== undefined) return name;
  const problem = `${asker}: expected one of the splits ${KNOWN_SPLITS}, got ${JSON.stringify(text)}`;
  throw tasksInvalid(
    [problem],
    'train is learned from, val (valid_seen) decides, test (valid_unseen) is only reported.',
  );
}

export type SplitSizes = Readonly<Record<SplitName, number>>;

/** So few tasks in a split are no measurement. */
const LEAST_IN_SPLIT = 5;

/** How many tasks each split would get. The seed does not matter for that. */
export function sizesOf(rows: readonly Row<Item>[]): SplitSizes {
  const { train, val, test } = splitItems(rows, { seed: 42 });
  return { train: train.length, val: val.length, test: test.length };
}

/** Whether training on so few tasks makes no sense. */
export const isTooFew = ({ train, val }: SplitSizes): boolean => train === 0 || val < LEAST_IN_SPLIT;

/** `6 tasks: 2 to learn from, 2 to choose by, 2 for the proof`. */
export const sizesText = ({ train, val, test }: SplitSizes): string =>
  `${plural(train + val + test, 'task')}: ${train} to learn from, ${val} to choose by, ${test} for the proof`;

type Typed = { readonly taskType?: unknown; readonly task_type?: unknown };

/** What kind of task an item or a result is: '' when it does not say. */
export function taskTypeOf(entry: object): string {
  const { taskType, task_type } = entry as Typed;
  const type = taskType ?? task_type;
  return type == null ? '' : String(type);
}

/** The entries of each task type, types in the order in which they first occur. */
export function byTaskType<T extends object>(entries: readonly T[]): T[][] {
  return groupBy(entries, taskTypeOf);
}

/**
 * `count` of the items, each task type with its share: rounded by largest remainder, between equal ones to the more
 * frequent type. Which items of a type are taken depends on the seed; they come in the order of `items`. All of them
 * when there are no more than `count`.
 */
export function stratifiedSample<T extends object>(items: readonly T[], count: number, seed: number): T[] {
  if (count >= items.length) return [...items];
  const groups = byTaskType(items);
  const shares = apportion(
    Math.max(0, count),
    groups.map((group) => group.length),
  );
  const taken = new Set(groups.flatMap((group, index) => shuffle(group, seed).slice(0, shares[index])));
  return items.filter((item) => taken.has(item));
}
