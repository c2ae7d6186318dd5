import { mean } from '../interval.ts';
import type { Row } from '../row.ts';
import { type Judged, ratioOfSums, times } from './judged.ts';

export function costRow(name: string, judged: readonly Judged[]): Row {
  const [calls, tokens, rounds] = (['optimizerCalls', 'tokens', 'rounds'] as const).map((key) =>
    judged.map(({ figures }) => figures[key]),
  );
  const shown = (values: readonly number[]) => `${times(mean(values))} (most ${times(Math.max(...values))})`;
  return {
    what: `${name}: optimizer calls, tokens, rounds`,
    goal: '≤ 2 ×, ≤ 2 ×, ≤ 1.3 × in the mean',
    measured: `${shown(calls!)} ×, ${shown(tokens!)} ×, ${shown(rounds!)} ×`,
    holds: mean(calls!) <= 2 && mean(tokens!) <= 2 && mean(rounds!) <= 1.3,
    figures: { calls: calls!, tokens: tokens!, rounds: rounds! },
  };
}

const MOST = { tokens: { gaining: 1.8, null: 1.5 }, rounds: 1 };

/** What all worlds together cost, since a dear world is not made good by many cheap ones. */
export function pooledCostRows(gaining: readonly Judged[], nothing: readonly Judged[]): Row[] {
  return [
    sumsRow({ what: 'worlds that are not null: optimizer tokens', of: 'tokens', most: MOST.tokens.gaining }, gaining),
    sumsRow({ what: 'null worlds: optimizer tokens', of: 'tokens', most: MOST.tokens.null }, nothing),
    sumsRow({ what: 'worlds that are not null: rounds', of: 'rounds', most: MOST.rounds }, gaining),
  ];
}

type Promised = { readonly what: string; readonly of: 'tokens' | 'rounds'; readonly most: number };

function sumsRow({ what, of, most }: Promised, judged: readonly Judged[]): Row {
  const sums = ratioOfSums(judged, ({ used }) => used[of]);
  const ratios = judged.map(({ figures }) => figures[of]);
  return {
    what: `${judged.length} ${what}`,
    goal: `sums ≤ ${most} ×`,
    measured: `sums ${times(sums)} ×; mean ${times(mean(ratios))} ×, most ${times(Math.max(...ratios))} ×`,
    holds: sums <= most,
    figures: { sums, mean: mean(ratios) },
  };
}
