import type { Bucket, Evaluation, GateMetric, ItemScore, RolloutResult, SkillError } from '../core/contracts/index.ts';
import { type Cost, callWords, costWords, countLoading, describeUnread, type ResultCard } from '../core/run/index.ts';
import type { PairedComparison } from '../core/stats/index.ts';
import { oneLine, percent, plural } from '../core/text/index.ts';
import { patchOf, skillChange } from './changes.ts';
import { atMost, type Colors, figureTable, type LineStyle, wrap } from './layout.ts';
import { cardLines } from './result-card.ts';
import { namedLines, testLookLines } from './run-lines.ts';
import { change, METRICS, span } from './verdict-words.ts';

/** The scores of one pass over one split. */
export type SkillScore = {
  readonly evaluation: Evaluation;
  readonly results: readonly RolloutResult[];
  readonly buckets: Readonly<Record<string, Bucket>>;
};

/** What a document scored on the splits that were asked for. */
export type ScoredDocument = {
  readonly document: string;
  readonly text: string;
  readonly splits: Readonly<Record<string, SkillScore>>;
  /** All tasks of these splits as if they were one. */
  readonly whole: SkillScore;
  readonly cost: Cost;
  readonly testLooks: number | undefined;
  readonly taskTypes: readonly string[];
  /** What the target read besides the text: two documents with the same text may refer to different files. */
  readonly version: string | undefined;
  /** Why too few tasks have a score to say anything. */
  readonly unmeasured?: SkillError | undefined;
};

/** One skill against another on the tasks that both have a score for. */
export type SideComparison = {
  readonly kind: 'better' | 'worse' | 'not-proven' | 'no-change';
  readonly metric: GateMetric;
  /** Nothing without a task in common. Without a `gain` where it is one skill twice. */
  readonly comparison: (Omit<PairedComparison, 'gain'> & Partial<Pick<PairedComparison, 'gain'>>) | undefined;
};

/** Whether a skill may be used, by what was measured. */
export type CheckKind = 'not-measured' | 'worse' | 'below-bar' | 'better' | 'not-proven' | 'no-change' | 'scored';

export type SkillCheck = {
  readonly kind: CheckKind;
  /** Worse is not proven, the bar is met, and enough tasks have a score. */
  readonly isPassed: boolean;
  /** By the metric of the gate; `null` where no task has a score. */
  readonly score: number | null;
  readonly metric: GateMetric;
  readonly minScore: number | undefined;
  readonly isBelowBar: boolean;
  readonly against: SideComparison | undefined;
  /** Of the document and its baseline together. */
  readonly cost: Cost;
  readonly unmeasured: SkillError | undefined;
};

/** What `eval` found. */
export type EvalReport = {
  /** As it was asked for: a name, or `all`. */
  readonly split: string;
  readonly scored: ScoredDocument;
  readonly baseline: ScoredDocument | undefined;
  readonly check: SkillCheck;
  /** On tasks of a benchmark. */
  readonly card?: ResultCard | undefined;
};

/** No task, no mean: what nobody scored is not 0. */
const measured = ({ hard, soft }: Pick<Bucket, 'hard' | 'soft'>, scored: number) =>
  scored === 0 ? { hard: null, soft: null } : { hard, soft };

/** The means over a pass. */
export const meansOf = (evaluation: Evaluation) => measured(evaluation, countTasks([evaluation]).scored);

/** The means over tasks of one type. */
export const bucketMeans = (bucket: Bucket) => measured(bucket, bucket.total);

export function summaryOf({ evaluation, results }: SkillScore) {
  const { scores } = evaluation;
  const errored = scores.filter((score) => score.errored).length;
  const { unread } = countLoading(results);
  const threw = results.filter((result) => result.threw).length;
  return { ...meansOf(evaluation), n: scores.length, errored, threw, ...(unread === 0 ? {} : { skillUnread: unread }) };
}

/** For programs. `splits` is there when more than one was asked for. */
export function evalValue(report: EvalReport): object {
  const { split, scored, baseline, check } = report;
  const { unmeasured, against, cost, ...verdict } = check;
  const [first] = checkSentences(report);
  return {
    ...documentValue(scored, split),
    testLooks: baseline?.testLooks ?? scored.testLooks,
    ...(report.card && { card: report.card }),
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
  const types = Object.entries(whole.buckets).map(([type, bucket]) => [type, { ...bucket, ...bucketMeans(bucket) }]);
  return { skill, split, ...summaryOf(whole), ...parts, buckets: Object.fromEntries(types) };
}

function baselineValue(baseline: ScoredDocument, { scored, split, check }: EvalReport) {
  const versions = { from: baseline.document, to: scored.document, before: baseline.text, after: scored.text };
  return { ...documentValue(baseline, split), cost: baseline.cost, ...check.against, patch: patchOf(versions) };
}

function taskValues({ scored, baseline }: EvalReport) {
  const before = new Map(baseline?.whole.evaluation.scores.map((score) => [score.id, score]));
  return Object.entries(scored.splits).flatMap(([split, { evaluation }]) =>
    evaluation.scores.map((score) => {
      const old = before.get(score.id);
      return {
        ...score,
        ...taskMeans(score),
        split,
        ...(old && { baseline: { ...taskMeans(old), errored: old.errored } }),
      };
    }),
  );
}

const taskMeans = (score: ItemScore) => measured(score, score.errored ? 0 : 1);

export function evalLines(report: EvalReport, style: LineStyle): string[] {
  const { bold } = style.colors;
  const { split, scored, baseline, check } = report;
  const { whole, splits } = scored;
  const { hard, soft } = meansOf(whole.evaluation);
  const counted = countTasks([whole.evaluation]);
  const isAll = Object.keys(splits).length > 1;
  const tasks = taskCount(counted, isAll ? 'task' : `${split} task`);
  const where = `${tasks}${isAll ? ' of all splits' : ''}${counted.scored < counted.total ? ',' : ''}`;
  const score = `${bold(percent(hard))} hard, ${percent(soft)} soft`;
  const types = Object.entries(whole.buckets).filter(([type, { total }]) => type !== 'overall' && total > 0);
  return [
    ...verdictLines(report, style.colors),
    ...(hard === null ? [] : [`${score} on ${where} with ${scored.document}`]),
    ...thrownLines(summaryOf(whole)),
    ...unreadLines(whole, style),
    ...namedLines(check.against?.comparison ?? {}, style),
    ...(baseline ? changeLines(baseline.text, scored.text, style) : []),
    costSentence(check).replace(/\.$/, ''),
    ...(report.card
      ? cardLines(report.card, style)
      : testLookLines(baseline?.testLooks ?? scored.testLooks, style.colors)),
    ...scoreTable('split', isAll ? Object.entries(splits).map(splitRow) : [], style),
    ...scoreTable('task type', types.map(typeRow), style),
  ];
}

/** A score alone needs no verdict. */
function verdictLines(report: EvalReport, { bold, green, red, yellow }: Colors): string[] {
  const { kind, minScore, isPassed } = report.check;
  if (kind === 'scored' && minScore === undefined) return [];
  const paint = isPassed ? (kind === 'not-proven' ? yellow : green) : red;
  return checkSentences(report).map(
    ({ head, text }, at) => `${at === 0 ? bold(paint(`${head}:`)) : `${head}:`} ${text}`,
  );
}

const MOST_CHANGES = 12;

function changeLines(before: string, after: string, { colors }: LineStyle): string[] {
  const { lines } = skillChange(before, after);
  const painted = lines.map((line) => (line.startsWith('+') ? colors.green : colors.red)(oneLine(line)));
  return atMost(MOST_CHANGES, painted, (rest) => colors.dim(`… and ${plural(rest, 'more line')}`));
}

const thrownLines = ({ threw }: { readonly threw: number }) =>
  threw > 0 ? [`the environment threw on ${plural(threw, 'task')}, which count as failed`] : [];

const unreadLines = ({ results }: SkillScore, { width, colors }: LineStyle) =>
  wrap(describeUnread(countLoading(results)) ?? '', width)
    .filter((line) => line !== '')
    .map((line) => colors.yellow(line));

const splitRow = ([name, { evaluation }]: [string, SkillScore]) =>
  scoreRow(name, meansOf(evaluation), taskCell(countTasks([evaluation])));

const typeRow = ([type, bucket]: [string, Bucket]) =>
  scoreRow(oneLine(type), bucketMeans(bucket), String(bucket.total));

const scoreRow = (name: string, { hard, soft }: ReturnType<typeof measured>, tasks: string) => [
  name,
  percent(hard),
  percent(soft),
  tasks,
];

const scoreTable = (title: string, rows: readonly string[][], style: LineStyle) =>
  rows.length === 0 ? [] : ['', ...figureTable([title, 'hard', 'soft', 'tasks'], rows, style)];

type Sentence = { readonly head: string; readonly text: string };

type Tasks = { readonly split: string; readonly count: number };

/** `36 test tasks`. */
export const tasksText = ({ split, count }: Tasks) =>
  split === 'all' ? `${plural(count, 'task')} of all splits` : plural(count, `${split} task`);

const HEADS: Readonly<Record<CheckKind, string>> = {
  'not-measured': 'Not measured',
  worse: 'Worse',
  'below-bar': 'Below the bar',
  better: 'Better',
  'not-proven': 'Not proven worse',
  'no-change': 'No change',
  scored: 'Scored',
};

/** The sentences about a check, the most important first. */
export function checkSentences(report: EvalReport, shown: (name: string) => string = String): Sentence[] {
  const { check, baseline, scored, split } = report;
  const { kind, against, minScore, isBelowBar, unmeasured } = check;
  if (unmeasured) return [{ head: HEADS[kind], text: `${unmeasured.message.replace(/\.$/, '')}.` }];
  const tasks = { split, count: countTasks([scored.whole.evaluation]).scored };
  const compared = against ? [compareSentence(against, tasks, shown(baseline?.document ?? ''))] : [];
  const bar = minScore === undefined ? [] : [barSentence(check, tasks)];
  const sentences = isBelowBar && kind !== 'worse' ? [...bar, ...compared] : [...compared, ...bar];
  return sentences.length > 0 ? sentences : [{ head: HEADS.scored, text: `${scoreText(check, tasks)}.` }];
}

const scoreText = ({ score, metric }: Pick<SkillCheck, 'score' | 'metric'>, tasks: Tasks) =>
  `${percent(score)}${METRICS[metric]} on ${tasksText(tasks)}`;

function barSentence(check: SkillCheck, tasks: Tasks): Sentence {
  const wanted = `${percent(check.minScore)} ${check.isBelowBar ? 'are wanted' : 'were wanted'}`;
  const head = check.isBelowBar ? HEADS['below-bar'] : 'At or above the bar';
  return { head, text: `${scoreText(check, tasks)}, ${wanted}.` };
}

function compareSentence({ kind, metric, comparison }: SideComparison, tasks: Tasks, baseline: string): Sentence {
  const head = HEADS[kind];
  if (!comparison) return { head, text: 'no task has a score under both skills.' };
  const { after, gain } = comparison;
  const on = `${METRICS[metric]} on ${tasksText({ ...tasks, count: comparison.tasks })}`;
  if (kind === 'no-change') return { head, text: `it is the same as ${baseline}, ${percent(after)}${on}.` };
  const sureness = kind === 'not-proven' ? '' : ', proven';
  return { head, text: `${change(comparison)}${on}${sureness}, ${span({ gain })} against ${baseline}.` };
}

/** `64 calls, $0.02.` */
export const costSentence = ({ cost }: Pick<SkillCheck, 'cost'>) => `${callWords(cost)}, ${costWords(cost)}.`;

type TaskCount = { readonly scored: number; readonly total: number };

/** Over one or more passes with the same tasks: a task is scored if any pass has scored it. */
export function countTasks(passes: readonly Pick<Evaluation, 'scores'>[]): TaskCount {
  const scored = passes.flatMap(({ scores }) => scores.filter(({ errored }) => !errored).map(({ id }) => id));
  return { scored: new Set(scored).size, total: passes[0]?.scores.length ?? 0 };
}

/** `12 val tasks`, or `10 of 12 val tasks, 2 without a score`. */
export function taskCount({ scored, total }: TaskCount, noun: string): string {
  if (scored === total) return plural(total, noun);
  return `${scored} of ${plural(total, noun)}, ${total - scored} without a score`;
}

/** The same for a cell of a table. */
export const taskCell = ({ scored, total }: TaskCount) => (scored === total ? String(total) : `${scored} of ${total}`);
