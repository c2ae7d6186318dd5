import { tQuantile } from '../../src/public/stats.ts';

/** A mean with its 95 % interval. */
export type Interval = { readonly mean: number; readonly low: number; readonly high: number };

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
export const mean = (values: readonly number[]) => sum(values) / values.length;

/** By Student's t. */
export function meanInterval(values: readonly number[]): Interval {
  const middle = mean(values);
  return around(
    middle,
    values.map((value) => value - middle),
  );
}

/** One mean over another, of pairs, by the delta method. */
export function ratioInterval(over: readonly number[], under: readonly number[]): Interval {
  const ratio = sum(over) / sum(under);
  const scale = mean(under);
  return around(
    ratio,
    over.map((value, index) => (value - ratio * under[index]!) / scale),
  );
}

function around(middle: number, residuals: readonly number[]): Interval {
  const { length } = residuals;
  const variance = sum(residuals.map((value) => value ** 2)) / (length - 1);
  const half = tQuantile(0.975, length - 1) * Math.sqrt(variance / length);
  return { mean: middle, low: middle - half, high: middle + half };
}
