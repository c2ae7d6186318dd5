import { sum } from '../interval.ts';
import type { Figures } from './figures.ts';
import type { WorldSpec } from './world-spec.ts';

export type GroupName = 'family' | 'random' | 'low budget' | 'size' | 'score' | 'null';

/** A world and what came of it. */
export type Judged = { readonly group: GroupName; readonly spec: WorldSpec; readonly figures: Figures };

/** The sum over the worlds of ours by that of the naive peer. Each world's mean counts once, however many its runs. */
export function ratioOfSums(judged: readonly Judged[], both: (figures: Figures) => readonly [number, number]): number {
  const pairs = judged.map(({ figures }) => both(figures));
  return sum(pairs.map(([, ours]) => ours)) / Math.max(1e-9, sum(pairs.map(([naive]) => naive)));
}

export const gains = ({ naiveGain, gain }: Figures) => [naiveGain, gain] as const;

export const times = (value: number) => value.toFixed(2);
export const points = (value: number, digits = 1) => (100 * value).toFixed(digits).replace('-', '−');
