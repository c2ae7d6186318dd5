import type { Range } from '../../train/estimate-run.ts';
import { count } from '../terminal/figures.ts';
import { type Column, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { CostEstimate } from './estimate-project.ts';

const COLUMNS: readonly Column[] = [
  { title: 'stage' },
  { title: 'model', isOptional: true },
  ...['calls', 'tokens in', 'tokens out', 'dollars'].map((title) => ({ title, align: 'right' as const })),
];

/** The table that people see before anything is spent, and how it was made. */
export function estimateLines(
  { stages, totalUsd, assumed }: CostEstimate,
  terminal: Pick<Terminal, 'width' | 'colors'>,
): string[] {
  const { width, colors } = terminal;
  const rows = stages.map(({ stage, role, calls, inputTokens, outputTokens, usd }) => [
    stage,
    role,
    span(calls, count),
    span(inputTokens, count),
    span(outputTokens, count),
    usd ? span(usd, dollars) : '?',
  ]);
  const total = [
    'total',
    '',
    ...(['calls', 'inputTokens', 'outputTokens'] as const).map((key) => span(sum(stages, key), count)),
  ];
  return [
    ...table(COLUMNS, [...rows, [...total, totalUsd ? span(totalUsd, dollars) : '?']], {
      width,
      paintTitle: colors.dim,
    }),
    '',
    colors.dim('low: nothing is found to change; high: the skill changes at every step. One call per task is assumed,'),
    colors.dim(
      `replies of ${assumed.targetReply} and ${assumed.optimizerReply} tokens, edits of ${assumed.edit}. Nothing was called.`,
    ),
    ...(totalUsd ? [] : [colors.dim('?: no price is known for that model.')]),
  ];
}

function sum(stages: CostEstimate['stages'], key: 'calls' | 'inputTokens' | 'outputTokens'): Range {
  const end = (name: keyof Range) => stages.reduce((total, stage) => total + stage[key][name], 0);
  return { low: end('low'), high: end('high') };
}

function span({ low, high }: Range, show: (value: number) => string): string {
  return low === high ? show(low) : `${show(low)}–${show(high)}`;
}

const dollars = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(2));
