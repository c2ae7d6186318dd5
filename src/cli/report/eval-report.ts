import type { ScoredDocument, SkillCheck } from '../../app/index.ts';
import { countLoading, describeUnread } from '../../core/run/index.ts';
import { oneLine, percent, plural } from '../../core/text/index.ts';
import { type Colors, type Column, table, wrap } from '../../report/index.ts';
import { type SkillScore, skillChange } from '../../train/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { checkSentences, costSentence } from './check/check-words.ts';
import { patchOf } from './patch.ts';
import { namedLines } from './report-verdict.ts';
import { countTasks, taskCell, taskCount } from './scored-tasks.ts';
import { testLookLines } from './test-look-lines.ts';

/** What `eval` found. */
export type EvalReport = {
  /** As it was asked for: a name, or `all`. */
  readonly split: string;
  readonly scored: ScoredDocument;
  readonly baseline: ScoredDocument | undefined;
  readonly check: SkillCheck;
};

export function summaryOf({ evaluation: { hard, soft, scores }, results }: SkillScore) {
  const errored = scores.filter((score) => score.errored).length;
  const { unread } = countLoading(results);
  const threw = results.filter((result) => result.threw).length;
  return { hard, soft, n: scores.length, errored, threw, ...(unread === 0 ? {} : { skillUnread: unread }) };
}

/** How many tasks have a score, and of which split. */
export const tasksOf = ({ split, scored }: EvalReport) => ({
  split,
  count: countTasks([scored.whole.evaluation]).scored,
});

/** For machines. `splits` is there when more than one was asked for. */
export function evalValue(report: EvalReport): object {
  const { split, scored, baseline, check } = report;
  const { unmeasured, against, cost, ...verdict } = check;
  const [first] = checkSentences(check, tasksOf(report), baseline?.document);
  return {
    ...documentValue(scored, split),
    testLooks: baseline?.testLooks ?? scored.testLooks,
    cost,
    verdict: { ...verdict, text: `${first!.head}: ${first!.text}` },
    ...(baseline && { baseline: baselineValue(baseline, report) }),
    tasks: taskValues(report),
    ...(unmeasured && { error: { code: unmeasured.code, message: unmeasured.message, hint: unmeasured.hint } }),
  };
}

function documentValue({ document: skill, whole, splits }: ScoredDocument, split: string) {
  const each = Object.entries(splits).map(([name, score]) => [name, summaryOf(score)] as const);
  const parts = each.length > 1 ? { splits: Object.fromEntries(each) } : {};
  return { skill, split, ...summaryOf(whole), ...parts, buckets: whole.buckets };
}

function baselineValue(baseline: ScoredDocument, { scored, split, check }: EvalReport) {
  const versions = { from: baseline.document, to: scored.document, before: baseline.text, after: scored.text };
  return { ...documentValue(baseline, split), cost: baseline.cost, ...check.against, patch: patchOf(versions) };
}

function taskValues({ scored, baseline }: EvalReport) {
  const before = new Map(baseline?.whole.evaluation.scores.map((score) => [score.id, score]));
  return Object.entries(scored.splits).flatMap(([split, { evaluation }]) =>
    evaluation.scores.map((score) => {
      const { hard, soft, errored } = before.get(score.id) ?? {};
      return { ...score, split, ...(before.has(score.id) && { baseline: { hard, soft, errored } }) };
    }),
  );
}

/** For people. */
export function evalLines(report: EvalReport, terminal: Terminal): string[] {
  const { bold } = terminal.colors;
  const { split, scored, baseline, check } = report;
  const { whole, splits } = scored;
  const { hard, soft } = whole.evaluation;
  const counted = countTasks([whole.evaluation]);
  const isAll = Object.keys(splits).length > 1;
  const tasks = taskCount(counted, isAll ? 'task' : `${split} task`);
  const where = `${tasks}${isAll ? ' of all splits' : ''}${counted.scored < counted.total ? ',' : ''}`;
  const types = Object.entries(whole.buckets).filter(([type]) => type !== 'overall');
  return [
    ...verdictLines(report, terminal.colors),
    `${bold(percent(hard))} hard, ${percent(soft)} soft on ${where} with ${scored.document}`,
    ...thrownLines(summaryOf(whole)),
    ...unreadLines(whole, terminal),
    ...namedLines(check.against?.comparison ?? {}, terminal),
    ...(baseline ? changeLines(baseline.text, scored.text, terminal) : []),
    costSentence(check).replace(/\.$/, ''),
    ...testLookLines(baseline?.testLooks ?? scored.testLooks, terminal.colors),
    ...(isAll ? scoreTable('split', Object.entries(splits).map(splitRow), terminal) : []),
    ...scoreTable(
      'task type',
      types.map(([type, bucket]) => [oneLine(type), bucket.hard, bucket.soft, String(bucket.total)]),
      terminal,
    ),
  ];
}

/** A score that nothing is asked of needs no verdict. */
function verdictLines(report: EvalReport, { bold, green, red, yellow }: Colors): string[] {
  const { check, baseline } = report;
  if (check.kind === 'scored' && check.minScore === undefined) return [];
  const paint = check.isPassed ? (check.kind === 'not-proven' ? yellow : green) : red;
  const sentences = checkSentences(check, tasksOf(report), baseline?.document);
  return sentences.map(({ head, text }, at) => `${at === 0 ? bold(paint(`${head}:`)) : `${head}:`} ${text}`);
}

const MOST_CHANGES = 12;

function changeLines(before: string, after: string, { colors }: Terminal): string[] {
  const { lines } = skillChange(before, after);
  const paint = (line: string) => (line.startsWith('+') ? colors.green : colors.red)(oneLine(line));
  const rest = lines.length - MOST_CHANGES;
  return [
    ...lines.slice(0, MOST_CHANGES).map(paint),
    ...(rest > 0 ? [colors.dim(`… and ${plural(rest, 'more line')}`)] : []),
  ];
}

const thrownLines = ({ threw }: { readonly threw: number }) =>
  threw > 0 ? [`the environment threw on ${plural(threw, 'task')}, which count as failed`] : [];

const unreadLines = ({ results }: SkillScore, { width, colors }: Terminal) =>
  wrap(describeUnread(countLoading(results)) ?? '', width)
    .filter((line) => line !== '')
    .map((line) => colors.yellow(line));

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
