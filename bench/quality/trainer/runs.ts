import { type Interval, meanInterval, ratioInterval } from '../interval.ts';
import type { Row } from '../row.ts';
import { SIDES, type Side } from './setting.ts';
import type { WholeRunFigures } from './train-whole-run.ts';

export type Figure = keyof WholeRunFigures;

/** Runs of both sides, in the same worlds and order. */
export type Runs = Readonly<Record<Side, readonly WholeRunFigures[]>>;
export type Both = Readonly<Record<Side, Interval>>;

export const valuesOf = (runs: readonly WholeRunFigures[], figure: Figure) => runs.map((run) => run[figure]);

function both(measure: (side: Side) => Interval): Both {
  return { paper: measure('paper'), default: measure('default') };
}

export const meansOf = (runs: Runs, figure: Figure) => both((side) => meanInterval(valuesOf(runs[side], figure)));

/** One figure over another, of the sums of each side. */
export const sharesOf = (runs: Runs, over: Figure, under: Figure) =>
  both((side) => ratioInterval(valuesOf(runs[side], over), valuesOf(runs[side], under)));

/** Ours over the peer's, of sums over pairs. */
export const ratioOf = (runs: Runs, figure: Figure) =>
  ratioInterval(valuesOf(runs.default, figure), valuesOf(runs.paper, figure));

const listed = ({ mean, low, high }: Interval) => [mean, low, high];

/** Intervals as a report in JSON holds them. */
export function figuresOf(intervals: Readonly<Record<string, Interval>>): Row['figures'] {
  return Object.fromEntries(Object.entries(intervals).map(([name, interval]) => [name, listed(interval)]));
}

type Format = (value: number) => string;

export const points: Format = (value) => (100 * value).toFixed(1).replace('-', '−');
export const whole: Format = (value) => Math.round(value).toLocaleString('en');
export const times: Format = (value) => value.toFixed(2).replace('-', '−');

export const spread = ({ mean, low, high }: Interval, format: Format) =>
  `${format(mean)} (${format(low)} to ${format(high)})`;

/** The peer's, then ours. */
export const inWords = (measures: Both, format: Format) =>
  SIDES.map((side) => spread(measures[side], format)).join(' → ');
