import { openLab, type Use } from './lab.ts';
import { searchNaively } from './naive-search.ts';
import { searchOurWay } from './our-search.ts';
import type { SearchResult } from './search-result.ts';
import { searchStrictly } from './strict-search.ts';
import type { WorldSpec } from './world-spec.ts';

export type CompareInput = { readonly spec: WorldSpec; readonly from: number; readonly seeds: number };

export type Run = SearchResult & Use;
/** With the strict gate where the validation set is small. */
export type Pair = { readonly naive: Run; readonly ours: Run; readonly strict?: Run };

const SMALL_SET = 20;

/** The same worlds searched in both ways, seed by seed. */
export function compareInWorld({ spec, from, seeds }: CompareInput): Pair[] {
  return Array.from({ length: seeds }, (_, index) => comparePair(spec, from + index));
}

function comparePair(spec: WorldSpec, seed: number): Pair {
  const run = (search: typeof searchNaively, side: number): Run => {
    const lab = openLab(spec, seed, side);
    return { ...search(lab), ...lab.use() };
  };
  return {
    naive: run(searchNaively, 1),
    ours: run(searchOurWay, 2),
    ...(spec.n <= SMALL_SET ? { strict: run(searchStrictly, 3) } : {}),
  };
}
