import { type Item, SkillError, shuffle } from '../core/contracts/index.ts';
import { groupBy, joined, plural, textOf } from '../core/text/index.ts';
import { checkUniqueIds, type Row, tasksInvalid } from '../imports/index.ts';

/**
 * Each row's task in exactly one split, in the order of the rows: where its row says, or, if no row says anything, by
 * ratio after a shuffle with the seed, twins together. Throws `TASKS_INVALID` for an unknown split, for rows of which only some
 * name one, and for an id that occurs twice.
 */
export function splitItems<T extends Item>(rows: readonly Row<T>[], options: SplitOptions): Splits<T> {
  checkUniqueIds(rows);
  const names = rows.some((row) => row.split !== undefined) ? namedSplits(rows) : drawnSplits(rows, options);
  const itemsOf = (name: SplitName) => rows.filter((_, index) => names[index] === name).map((row) => row.value);
  return { train: itemsOf('train'), val: itemsOf('val'), test: itemsOf('test') };
}

function namedSplits(rows: readonly Row[]): (SplitName | undefined)[] {
  const missing = rows.filter((row) => row.split === undefined);
  if (missing[0]) {
    const problem = `${missing[0].where}: ${missing.length} of ${rows.length} rows have no "split", this one first`;
    throw tasksInvalid([problem], 'Give every row a split, or none to have them split by ratio.');
  }
  const problems = rows
    .filter(({ split }) => !SPLIT_OF.has(split!))
    .map(({ where, split }) => `${where}: "split" must be one of ${KNOWN_SPLITS}, got ${JSON.stringify(split)}`);
  if (problems.length > 0) throw tasksInvalid(problems, 'train is learned from, val decides, test is only reported.');
  return rows.map((row) => SPLIT_OF.get(row.split!));
}

/** The places of rows that are drawn as one: twins, and those of one group. */
export const drawnTogether = (rows: readonly Row[]): number[][] =>
  joined(rows.map(({ twin, group }) => [...(twin === undefined ? [] : [`twin ${twin}`]), ...(group ?? [])]));

function drawnSplits(rows: readonly Row[], options: SplitOptions): SplitName[] {
  const groups = drawnTogether(rows);
  const isGrouped = rows.some(({ group }) => group !== undefined);
  const drawn = isGrouped ? drawGroups(groups, options) : drawSplits(groups.length, options);
  const names: SplitName[] = Array(rows.length);
  for (const name of SPLIT_NAMES) for (const at of drawn[name]) for (const index of groups[at]!) names[index] = name;
  return names;
}

/**
 * Groups of any size in three splits, whose numbers of members come close to the ratio: the largest group first, equal ones in the
 * order that the seed drew, each into the split that lacks most.
 */
export function drawGroups(
  groups: readonly (readonly unknown[])[],
  { ratio = '4:3:3', seed }: SplitOptions,
): Splits<number> {
  const total = groups.reduce((sum, { length }) => sum + length, 0);
  const lacking = apportion(total, parseRatio(ratio));
  const order = shuffle([...groups.keys()], seed).sort((a, b) => groups[b]!.length - groups[a]!.length);
  const drawn: Record<SplitName, number[]> = { train: [], val: [], test: [] };
  for (const at of order) {
    const most = lacking.indexOf(Math.max(...lacking));
    lacking[most]! -= groups[at]!.length;
    drawn[SPLIT_NAMES[most]!].push(at);
  }
  return drawn;
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

/** Reads `4:3:3`, also with spaces. Throws `CONFIG_INVALID` unless it is three positive numbers. */
function parseRatio(text: string): number[] {
  if (isRatio(text)) return partsOf(text).map(Number);
  throw new SkillError('CONFIG_INVALID', `ratio: expected three positive numbers such as 4:3:3, got "${text}"`, {
    hint: 'The numbers are the shares of train, val and test.',
  });
}

export function isRatio(text: string): boolean {
  const parts = partsOf(text);
  return parts.length === 3 && parts.every((part) => /^\d{1,9}(?:\.\d+)?$/.test(part) && Number(part) > 0);
}

const partsOf = (text: string) => text.split(':').flatMap((part) => part.trim() || []);

/** Whole numbers that add up to `total`, by largest remainder. Between equal remainders the greater weight wins. */
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

/** Each name and alias of a split. The longer names are those of the reference's data. */
const SPLIT_OF = new Map<string, SplitName>([
  ['train', 'train'],
  ['val', 'val'],
  ['test', 'test'],
  ['selection', 'val'],
  ['valid_seen', 'val'],
  ['valid_unseen', 'test'],
]);

export const SPLIT_NAMES: readonly SplitName[] = ['train', 'val', 'test'];

const KNOWN_SPLITS = [...SPLIT_OF.keys()].join(', ');

/** Throws `TASKS_INVALID` for an unknown name: measuring on another split would be a silent mistake. */
export function requireSplitName(text: string, asker: string): SplitName {
  const name = SPLIT_OF.get(text);
  if (name !== undefined) return name;
  const problem = `${asker}: expected one of the splits ${KNOWN_SPLITS}, got ${JSON.stringify(text)}`;
  throw tasksInvalid(
    [problem],
    'train is learned from, val (valid_seen) decides, test (valid_unseen) is only reported.',
  );
}

export type SplitSizes = Readonly<Record<SplitName, number>>;

/** Fewer tasks in a split are no measurement. */
const LEAST_IN_SPLIT = 5;

/** How many tasks each split would get, whatever the seed. */
export function sizesOf(rows: readonly Row<Item>[]): SplitSizes {
  const { train, val, test } = splitItems(rows, { seed: 42 });
  return { train: train.length, val: val.length, test: test.length };
}

/** Whether training on so few tasks makes no sense. */
export const isTooFew = ({ train, val }: SplitSizes): boolean => train === 0 || val < LEAST_IN_SPLIT;

/** `6 tasks: 2 to learn from, 2 to choose by, 2 for the proof`. */
export const sizesText = ({ train, val, test }: SplitSizes): string =>
  `${plural(train + val + test, 'task')}: ${train} to learn from, ${val} to choose by, ${test} for the proof`;

/** The task type of an item or a result: '' when it has none. */
export function taskTypeOf(entry: object): string {
  const { taskType, task_type } = entry as { taskType?: unknown; task_type?: unknown };
  const type = taskType ?? task_type;
  return type == null ? '' : textOf(type);
}

/** The entries of each task type, types in the order in which they first occur. */
export const byTaskType = <T extends object>(entries: readonly T[]): T[][] => groupBy(entries, taskTypeOf);

/**
 * `count` of the items, in their order: each task type with its share, by largest remainder. The seed decides which items
 * of a type are taken.
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
