import type { Item } from '../core/env.ts';
import { shuffle } from '../core/random.ts';
import { checkUniqueIds } from './check-unique-ids.ts';
import type { Row } from './row.ts';
import { apportion, parseRatio } from './split-ratio.ts';
import { tasksInvalid } from './tasks-invalid.ts';

type SplitName = 'train' | 'val' | 'test';
export type Splits<T> = { readonly [Name in SplitName]: readonly T[] };

export type SplitOptions = {
  /** Shares of train, val and test, when the rows name no splits. */
  readonly ratio?: string;
  readonly seed: number;
};

/** What a row's `split` may say. The longer names are those of the reference's data. */
const SPLIT_OF = new Map<string, SplitName>([
  ['train', 'train'],
  ['val', 'val'],
  ['test', 'test'],
  ['selection', 'val'],
  ['valid_seen', 'val'],
  ['valid_unseen', 'test'],
]);

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
  const unknown = rows.filter((row) => !SPLIT_OF.has(row.split!));
  if (unknown.length > 0)
    throw tasksInvalid(unknown.map(describeUnknown), 'train is learned from, val decides, test is only reported.');
  return rows.map((row) => SPLIT_OF.get(row.split!));
}

function describeUnknown({ where, split }: Row): string {
  return `${where}: "split" must be one of ${[...SPLIT_OF.keys()].join(', ')}, got ${JSON.stringify(split)}`;
}

function drawnSplits(total: number, { ratio = '4:3:3', seed }: SplitOptions): SplitName[] {
  const [train, val] = apportion(total, parseRatio(ratio));
  const order = shuffle([...Array(total).keys()], seed);
  const names: SplitName[] = Array(total);
  order.forEach((index, rank) => {
    names[index] = rank < train ? 'train' : rank < train + val ? 'val' : 'test';
  });
  return names;
}
