import type { StageUsage } from '../../core/event.ts';
import type { RunState } from '../../core/state.ts';
import { count } from '../terminal/figures.ts';
import { type Column, table } from '../terminal/table.ts';
import type { ReportOptions } from './report-options.ts';

const FIGURES: readonly (readonly [title: string, figure: (usage: StageUsage) => number])[] = [
  ['calls', ({ replies, cacheHits }) => replies - cacheHits],
  ['from cache', ({ cacheHits }) => cacheHits],
  ['tokens in', ({ input }) => input],
  ['tokens out', ({ output }) => output],
  ['retries', ({ retries }) => retries],
];

/** Calls, cache hits and tokens per stage, and in all. */
export function usageLines({ usage }: RunState, { width, colors }: ReportOptions): string[] {
  const stages = Object.entries(usage);
  if (stages.length === 0) return [];
  const rows = stages.map(([name, stage]) => [name, ...FIGURES.map(([, figure]) => count(figure(stage)))]);
  const total = FIGURES.map(([, figure]) => count(stages.reduce((sum, [, stage]) => sum + figure(stage), 0)));
  const columns: Column[] = [
    { title: 'model calls', isElastic: true },
    ...FIGURES.map(([title], at) => ({ title, align: 'right' as const, isOptional: at > 0 })),
  ];
  return table(columns, stages.length > 1 ? [...rows, ['total', ...total]] : rows, { width, paintTitle: colors.dim });
}
