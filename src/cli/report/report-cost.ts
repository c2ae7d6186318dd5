import { type Cost, costRows, dollarCell } from '../../core/run/index.ts';
import { count } from '../../core/text/index.ts';
import { type Column, clip, duration, table } from '../../report/index.ts';
import type { Told } from './report-options.ts';
import { NO_PRICE } from './report-usage.ts';

/** What the run cost, in four columns: on what, calls, tokens, dollars. */
export function costLines({ state, verdict, options: { width, colors } }: Told): string[] {
  const rows = costRows(state, verdict);
  if (rows.length === 0) return [];
  const columns: Column[] = [
    { title: 'what it cost', isElastic: true },
    ...['calls', 'tokens', 'dollars'].map((title) => ({ title, align: 'right' as const })),
  ];
  const cells = (what: string, cost: Cost) => [what, count(cost.calls), count(cost.tokens), dollarCell(cost)];
  const total = cells(`in all, ${duration(state.wallTimeMs)}`, verdict);
  const lines = table(columns, [...rows.map((row) => cells(row.what, row)), total], { width, paintTitle: colors.dim });
  return verdict.isPriced ? lines : [...lines, colors.dim(clip(NO_PRICE, width))];
}
