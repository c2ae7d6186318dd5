import { shuffle } from '../../core/random.ts';
import type { SplitName } from './split-name.ts';
import { apportion, parseRatio } from './split-ratio.ts';

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
