import type { CostEstimate } from '../../runs/estimate-project.ts';
import type { Range } from '../../train/estimate-run.ts';
import { count, dollars } from '../terminal/figures.ts';
import { type Column, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { wrap } from '../terminal/wrap.ts';

const COLUMNS: readonly Column[] = [
  { title: 'stage' },
  { title: 'model', isOptional: true },
  ...['calls', 'tokens in', 'tokens out', 'dollars'].map((title) => ({ title, align: 'right' as const })),
];

/** The table that people see before anything is spent, and how it was made. */
export function estimateLines(
  { stages, totals, totalUsd, assumed }: CostEstimate,
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
    ...[totals.calls, totals.inputTokens, totals.outputTokens].map((range) => span(range, count)),
  ];
  return [
    ...table(COLUMNS, [...rows, [...total, totalUsd ? span(totalUsd, dollars) : '?']], {
      width,
      paintTitle: colors.dim,
    }),
    '',
    ...wrap(
      `low: nothing is found to change; high: every step has a new candidate. One call per task is assumed, replies of ${assumed.targetReply} and ${assumed.optimizerReply} tokens, edits of ${assumed.edit}. Nothing was called.`,
      width,
    ).map((line) => colors.dim(line)),
    ...(totalUsd ? [] : [colors.dim('?: no price is known for that model.')]),
  ];
}

/** The same in one line. */
export function estimateLine({ totals, totalUsd }: CostEstimate): string {
  const cost = totalUsd ? `$${span(totalUsd, dollars)}` : 'a model without a known price';
  return `estimate: ${span(totals.calls, count)} calls, ${span(totals.tokens, count)} tokens, ${cost}`;
}

export function span({ low, high }: Range, show: (value: number) => string): string {
  return low === high ? show(low) : `${show(low)}–${show(high)}`;
}
