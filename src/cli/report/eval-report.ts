import { bucketScores, toEvaluation } from '../../core/score.ts';
import { oneLine } from '../../core/text/printable.ts';
import type { SkillScore } from '../../train/index.ts';
import { percent, plural } from '../terminal/figures.ts';
import { type Column, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { countTasks, taskCell, taskCount } from './scored-tasks.ts';
import { testLookLines } from './test-look-lines.ts';

/** What `eval` found: a score for each split that was asked for. */
export type EvalReport = {
  readonly document: string;
  /** As it was asked for: a name, or `all`. */
  readonly split: string;
  readonly testLooks: number | undefined;
  readonly splits: Readonly<Record<string, SkillScore>>;
  readonly taskTypes: readonly string[];
};

/** The tasks of all splits as if they were one. */
export function together({ splits, taskTypes }: Pick<EvalReport, 'splits' | 'taskTypes'>): SkillScore {
  const scores = Object.values(splits);
  if (scores.length === 1) return scores[0]!;
  const results = scores.flatMap((score) => score.results);
  const evaluation = toEvaluation(results);
  return { evaluation, results, buckets: bucketScores(evaluation.scores, taskTypes) };
}

export function summaryOf({ evaluation: { hard, soft, scores }, results }: SkillScore) {
  const errored = scores.filter((score) => score.errored).length;
  return { hard, soft, n: scores.length, errored, threw: results.filter(({ threw }) => threw).length };
}

/** For machines. `splits` is there when more than one was asked for. */
export function evalValue(report: EvalReport): object {
  const { document: skill, split, testLooks, splits } = report;
  const whole = together(report);
  const each = Object.entries(splits).map(([name, score]) => [name, summaryOf(score)] as const);
  const parts = each.length > 1 ? { splits: Object.fromEntries(each) } : {};
  return { skill, split, ...summaryOf(whole), ...parts, testLooks, buckets: whole.buckets };
}

/** For people. */
export function evalLines(report: EvalReport, terminal: Terminal): string[] {
  const { bold } = terminal.colors;
  const whole = together(report);
  const { hard, soft } = whole.evaluation;
  const { scored, total } = countTasks([whole.evaluation]);
  const isAll = Object.keys(report.splits).length > 1;
  const tasks = taskCount({ scored, total }, isAll ? 'task' : `${report.split} task`);
  const where = `${tasks}${isAll ? ' of all splits' : ''}${scored < total ? ',' : ''}`;
  const types = Object.entries(whole.buckets).filter(([type]) => type !== 'overall');
  return [
    `${bold(percent(hard))} hard, ${percent(soft)} soft on ${where} with ${report.document}`,
    ...thrownLines(summaryOf(whole)),
    ...testLookLines(report.testLooks, terminal.colors),
    ...(isAll ? scoreTable('split', Object.entries(report.splits).map(splitRow), terminal) : []),
    ...scoreTable(
      'task type',
      types.map(([type, bucket]) => [oneLine(type), bucket.hard, bucket.soft, String(bucket.total)]),
      terminal,
    ),
  ];
}

const thrownLines = ({ threw }: { readonly threw: number }) =>
  threw > 0 ? [`the environment threw on ${plural(threw, 'task')}, which count as failed`] : [];

type ScoreRow = readonly [name: string, hard: number, soft: number, tasks: string];

function splitRow([name, { evaluation }]: [string, SkillScore]): ScoreRow {
  return [name, evaluation.hard, evaluation.soft, taskCell(countTasks([evaluation]))];
}

function scoreTable(title: string, rows: readonly ScoreRow[], { width, colors }: Terminal): string[] {
  if (rows.length === 0) return [];
  const columns: Column[] = [
    { title, isElastic: true },
    ...['hard', 'soft', 'tasks'].map((name) => ({ title: name, align: 'right' as const })),
  ];
  const cells = rows.map(([name, hard, soft, tasks]) => [name, percent(hard), percent(soft), tasks]);
  return ['', ...table(columns, cells, { width, paintTitle: colors.dim })];
}
