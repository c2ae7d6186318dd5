import { type TriggerShare, triggerFigures } from '../../app/index.ts';
import type { Bucket } from '../../core/contracts/index.ts';
import { cutShortWords, gateMetricScore, LEAST_TASKS, loadingOf, type RunState } from '../../core/run/index.ts';
import { oneLine, percent, plural, points } from '../../core/text/index.ts';
import { type Column, clip, table } from '../../report/index.ts';
import type { ReportOptions } from './report-options.ts';

type Row = { readonly kind: string; readonly tasks: number; readonly before: number; readonly after: number };

/** The tasks that the search never saw, by their kind; kinds with too few tasks are counted and left out. */
export function kindLines(state: RunState, options: ReportOptions): string[] {
  if (triggerFigures(state)) return []; // they are told with the verdict, however few they are
  const rows = kindRows(state);
  const shown = rows.filter(({ tasks }) => tasks >= LEAST_TASKS);
  const few = rows.length - shown.length;
  if (rows.length === 0) return [];
  const left =
    few > 0 ? [options.colors.dim(`${plural(few, 'kind')} of fewer than ${LEAST_TASKS} tasks left out`)] : [];
  return [...(shown.length > 0 ? kindTable(shown, options) : []), ...left];
}

function kindRows(state: RunState): Row[] {
  const { baseline, best } = state.tests;
  if (!baseline || !best) return [];
  const score = (bucket: Bucket | undefined) => gateMetricScore(bucket, state) ?? 0;
  return Object.entries(best.buckets)
    .filter(([kind, { total }]) => kind !== 'overall' && total > 0)
    .map(([kind, bucket]) => ({
      kind: oneLine(kind),
      tasks: bucket.total,
      before: score(baseline.buckets[kind]),
      after: score(bucket),
    }));
}

function kindTable(rows: readonly Row[], { width, colors }: ReportOptions): string[] {
  const gains = rows.map(({ before, after }) => after - before);
  const paint = (text: string, row: number) => {
    if (gains[row]! === 0) return colors.dim(text);
    return gains[row]! > 0 ? colors.green(text) : colors.red(text);
  };
  const columns: Column[] = [
    { title: 'kind of task', isElastic: true },
    { title: 'before', align: 'right' },
    { title: 'after', align: 'right' },
    { title: 'points', align: 'right', paint, isOptional: true },
    { title: 'tasks', align: 'right', isOptional: true },
  ];
  const cells = rows.map(({ kind, tasks, before, after }, index) => [
    ...[kind, percent(before), percent(after), points(gains[index]), String(tasks)],
  ]);
  return table(columns, cells, { width, paintTitle: colors.dim });
}

/** Of runs with agents: whether the skill was loaded, which is what they are about where queries are the tasks. */
export function loadingLines(state: RunState, { width, colors }: ReportOptions): string[] {
  const figures = triggerFigures(state);
  if (figures)
    return [
      shareLine('recall', figures.recall, 'loaded', 'should load it'),
      shareLine('specificity', figures.specificity, 'left alone', 'should not'),
    ].map((line) => clip(line, width));
  const loading = loadingOf(state.usage.rollout ?? {});
  if (!loading) return [];
  const { loaded, attempts, cutShort } = loading;
  const lines = [
    ...(attempts > 0 ? [`the skill was loaded in ${loaded} of ${plural(attempts, 'attempt')}`] : []),
    ...(cutShort ? [`not counted for loading the skill: ${cutShortWords(cutShort)}`] : []),
  ].map((line) => clip(line, width));
  return loaded === attempts ? lines : lines.map(colors.yellow);
}

/** `recall       33.3 → 100.0 %  loaded for 1 → 3 of 3 queries that should load it`. */
function shareLine(name: string, { of, before, after }: TriggerShare, done: string, which: string): string {
  const shares = `${percent(before / Math.max(1, of)).replace(' %', '')} → ${percent(after / Math.max(1, of))}`;
  return `${name.padEnd('specificity'.length)}  ${shares}  ${done} for ${before} → ${after} of ${of} queries that ${which}`;
}
