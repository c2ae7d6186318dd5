import type { Item } from '../../core/contracts/index.ts';
import { plural } from '../../core/text/index.ts';
import type { Row } from '../read/row.ts';
import { splitItems } from './split-items.ts';
import type { SplitName } from './split-name.ts';

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
