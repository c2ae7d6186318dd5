import { gateMetricScore, reportedScores } from '../../core/run/reported-scores.ts';
import type { RunState, TestReport } from '../../core/run/run-state.ts';
import type { Bucket } from '../../core/score.ts';
import { oneLine } from '../../core/text/printable.ts';
import { percent, points } from '../terminal/figures.ts';
import { type Column, table } from '../terminal/table.ts';
import type { ReportOptions } from './report-options.ts';
import { countValidation, type TaskCount, taskCell } from './scored-tasks.ts';
import { testLookLines } from './test-look-lines.ts';

const MOST_TYPES = 12;

type Row = {
  readonly label: string;
  readonly tasks: TaskCount;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
};

/** Baseline and best, on validation and on test, by the metric of the gate; its name is shown where it is not the usual one. */
export function scoreLines(state: RunState, options: ReportOptions): string[] {
  const { tests, testLooks, config } = state;
  const scores = reportedScores(state);
  const rows: Row[] = [
    {
      label: config?.selectionSplit === 'val' ? 'validation' : (config?.selectionSplit ?? ''),
      tasks: countValidation(state),
      ...scores,
    },
    ...(tests.baseline || tests.best ? [testRow(state)] : []),
  ];
  const title = config && config.gateMetric !== 'hard' ? `${config.gateMetric} score` : '';
  return scores ? [...comparison(title, rows, options), ...testLookLines(testLooks, options.colors)] : [];
}

function testRow(state: RunState): Row {
  const { baseline, best } = state.tests;
  const { n, buckets } = (best ?? baseline)!;
  return {
    label: 'test',
    tasks: { scored: buckets.overall?.total ?? n, total: n },
    before: gateMetricScore(baseline, state),
    after: gateMetricScore(best, state),
  };
}

/** The test by task type: all types when they are few, otherwise those that changed. */
export function bucketLines(state: RunState, options: ReportOptions): string[] {
  const { baseline, best } = state.tests;
  if (!baseline || !best) return [];
  const rows = Object.keys(best.buckets)
    .filter((type) => type !== 'overall')
    .map((type) => bucketRow(type, { baseline, best }, state));
  const shown = rows.length > MOST_TYPES ? rows.filter(({ before, after }) => before !== after) : rows;
  if (shown.length === 0) return [];
  const rest = rows.length - shown.length;
  return [
    ...comparison('test by task type', shown, options),
    ...(rest > 0 ? [`… and ${rest} that did not change`] : []),
  ];
}

type Compared = { readonly baseline: TestReport; readonly best: TestReport };

function bucketRow(type: string, { baseline, best }: Compared, state: RunState): Row {
  const score = (bucket: Bucket | undefined) =>
    bucket && bucket.total > 0 ? gateMetricScore(bucket, state) : undefined;
  const { total } = best.buckets[type]!;
  return {
    label: oneLine(type),
    tasks: { scored: total, total },
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
  const cells = rows.map(({ label, tasks, before, after }, index) => [
    label,
    percent(before),
    percent(after),
    before === undefined || after === undefined ? '' : points(gains[index]),
    taskCell(tasks),
  ]);
  return table(columns, cells, { width, paintTitle: colors.dim });
}
