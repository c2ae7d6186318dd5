import { SkillError, shuffle } from '../../core/contracts/index.ts';
import type { SplitName } from './split-name.ts';

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
