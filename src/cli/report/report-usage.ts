import {
  addUsage,
  dollarCell,
  isPriced,
  noStageUsage,
  PLAIN_WORDS,
  type RunState,
  type StageUsage,
} from '../../core/run/index.ts';
import { count } from '../../core/text/index.ts';
import { type Column, clip, duration, table } from '../../report/index.ts';
import type { ReportOptions } from './report-options.ts';

type Figure = readonly [title: string, show: (usage: StageUsage) => string];

/** In the order in which they are worth a column: on a narrow terminal the last ones give way. */
const FIGURES: readonly Figure[] = [
  ['calls', ({ replies, cacheHits }) => count(replies - cacheHits)],
  ['dollars', (usage) => dollarCell({ costUsd: usage.costUsd, isPriced: isPriced(usage) })],
  ['hits', ({ cacheHits }) => count(cacheHits)],
  ['tokens in', ({ input }) => count(input)],
  ['cached', ({ cached, input }) => share(cached, input)],
  ['out', ({ output }) => count(output)],
  ['retries', ({ retries }) => count(retries)],
  ['waited', ({ waitMs }) => (waitMs > 0 ? duration(waitMs) : '–')],
  ['reasoning', ({ reasoning, output }) => share(reasoning, output)],
];

/** What each stage cost, and all together. */
export function usageLines({ usage }: RunState, { width, colors }: ReportOptions): string[] {
  const stages = Object.entries(usage);
  if (stages.length === 0) return [];
  const total: StageUsage = stages.reduce((sum, [, stage]) => addUsage(sum, stage), noStageUsage);
  const rows = [...stages, ...(stages.length > 1 ? [['total', total] as const] : [])];
  const columns: Column[] = [
    { title: 'stage', isElastic: true },
    ...FIGURES.map(([title], at) => ({ title, align: 'right' as const, isOptional: at > 0 })),
  ];
  const cells = rows.map(([name, stage]) => [
    PLAIN_WORDS[name] ?? name,
    ...FIGURES.map(([, show]) => show(addUsage(noStageUsage, stage))),
  ]);
  const lines = table(columns, cells, { width, paintTitle: colors.dim });
  const legend = rows.some(([, stage]) => !isPriced(addUsage(noStageUsage, stage)))
    ? [colors.dim(clip(NO_PRICE, width))]
    : [];
  return [...lines, ...legend];
}

export const NO_PRICE = '?: no price known for that model; "prices" in the project file gives one';

/** What providers took from their own caches, or spent on thoughts. */
function share(part: number, whole: number): string {
  return part > 0 ? `${Math.round((100 * part) / whole)} %` : '–';
}
