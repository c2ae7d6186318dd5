import type { RunState, TestReport } from '../../core/run-state.ts';
import type { Bucket } from '../../core/score.ts';
import { reportedScores } from '../../core/winner-measurement.ts';
import { percent, points } from '../terminal/figures.ts';
import { type Column, table } from '../terminal/table.ts';
import { oneLine } from '../terminal/text-width.ts';
import type { ReportOptions } from './report-options.ts';
import { testLookLines } from './test-look-lines.ts';

const MOST_TYPES = 12;

type Row = {
  readonly label: string;
  readonly n: number;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
};

/** Baseline and best, on validation and on test. */
export function scoreLines(state: RunState, options: ReportOptions): string[] {
  const { items, tests, testLooks, config } = state;
  const scores = reportedScores(state);
  const rows: Row[] = [
    {
      label: config?.selectionSplit === 'val' ? 'validation' : (config?.selectionSplit ?? ''),
      n: items.val ?? 0,
      ...scores,
    },
    ...(tests.baseline || tests.best ? [testRow(tests)] : []),
  ];
  return scores ? [...comparison('', rows, options), ...testLookLines(testLooks, options.colors)] : [];
}

function testRow({ baseline, best }: RunState['tests']): Row {
  return { label: 'test', n: (best ?? baseline)!.n, before: baseline?.hard, after: best?.hard };
}

/** The test by task type: all types when they are few, otherwise those that changed. */
export function bucketLines({ tests }: RunState, options: ReportOptions): string[] {
  const { baseline, best } = tests;
  if (!baseline || !best) return [];
  const rows = Object.keys(best.buckets)
    .filter((type) => type !== 'overall')
    .map((type) => bucketRow(type, baseline, best));
  const shown = rows.length > MOST_TYPES ? rows.filter(({ before, after }) => before !== after) : rows;
  if (shown.length === 0) return [];
  const rest = rows.length - shown.length;
  return [
    ...comparison('test by task type', shown, options),
    ...(rest > 0 ? [`… and ${rest} that did not change`] : []),
  ];
}

function bucketRow(type: string, baseline: TestReport, best: TestReport): Row {
  const score = (bucket: Bucket | undefined) => (bucket && bucket.total > 0 ? bucket.hard : undefined);
  return {
    label: oneLine(type),
    n: best.buckets[type]!.total,
    before: score(baseline.buckets[type]),
    after: score(best.buckets[type]),
  };
}

function comparison(title: string, rows: readonly Row[], { width, colors }: ReportOptions): string[] {
  const gains = rows.map(({ before, after }) => (before === undefined || after === undefined ? 0 : after - before));
  const paint = (text: string, row: number) => {
    if (gains[row]! === 0) return colors.dim(text);
    return gains[row]! > 0 ? colors.green(text) : colors.red(text);
  };
  const columns: Column[] = [
    { title, isElastic: true },
    { title: 'baseline', align: 'right' },
    { title: 'best', align: 'right' },
    { title: 'points', align: 'right', paint, isOptional: true },
    { title: 'tasks', align: 'right', isOptional: true },
  ];
  const cells = rows.map(({ label, n, before, after }, index) => [
    label,
    percent(before),
    percent(after),
    before === undefined || after === undefined ? '' : points(gains[index]),
    String(n),
  ]);
  return table(columns, cells, { width, paintTitle: colors.dim });
}
