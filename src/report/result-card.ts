import type { ResultCard } from '../core/run/index.ts';
import { oneLine, percent, plural } from '../core/text/index.ts';
import { fitRows, type LineStyle } from './layout.ts';

/** This many characters of a hash are enough to distinguish two. */
const HASH_SHOWN = 16;

/** What a score on a benchmark was measured on, and by which rule. */
export function cardRows(card: ResultCard): [what: string, text: string][] {
  const { benchmark, rule, n, unscored, hard, interval, testLooks, promptSha256, dataSha256 } = card;
  return [
    ['benchmark', benchmark],
    ['rule', rule],
    [
      'measured',
      `${percent(hard)} of ${plural(n, 'task')}${unscored ? `, ${unscored} more without a score` : ''}, 95 % interval ${percent(interval.low)} to ${percent(interval.high)}`,
    ],
    ...(testLooks === null ? [] : [['test looks', String(testLooks)] as [string, string]]),
    ['prompt', `sha256 ${promptSha256.slice(0, HASH_SHOWN)}…`],
    ['data', `sha256 ${dataSha256.slice(0, HASH_SHOWN)}…`],
  ];
}

export function cardLines(card: ResultCard | undefined, { colors, width }: LineStyle): string[] {
  if (card === undefined) return [];
  const text = cardRows(card).map(([what, value]) => `  ${what.padEnd(10)}  ${oneLine(value)}`);
  return [colors.dim('result card'), ...fitRows(text.join('\n'), width).split('\n')];
}
