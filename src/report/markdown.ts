import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Bucket, type RolloutResult, selectGateScore } from '../core/contracts/index.ts';
import {
  type Cost,
  costRows,
  dollarCell,
  lineSupport,
  mayHaveBeenWords,
  type ResultCard,
  type RunState,
  standingWords,
  supportWords,
  verdictOf,
} from '../core/run/index.ts';
import { PASS_MARK } from '../core/stats/index.ts';
import { count, head, inMarkdown, nameAsData, oneLine, percent, plural } from '../core/text/index.ts';
import { skillChange } from './changes.ts';
import {
  bucketMeans,
  checkSentences,
  costSentence,
  countTasks,
  type EvalReport,
  meansOf,
  type ScoredDocument,
  type SkillScore,
  taskCell,
} from './eval-report.ts';
import { aboutTasksWords } from './finding-text.ts';
import { atMost, nameSome } from './layout.ts';
import { cardRows } from './result-card.ts';
import type { Flips } from './run-lines.ts';
import { endWords } from './search-end.ts';
import { chosenByWords, draftedWords, lineWords, nextStep, verdictWords } from './verdict-words.ts';

const MOST_LINES = 400;
const MOST_NAMES = 100;

/** What the terminal says about a run, as a page: `report.md`. Every text of models and tasks is data in it. */
export function reportView(state: RunState, outRoot: string, usage?: RunState['usage']): string {
  const verdict = verdictOf(state, { usage });
  const change = skillChange(state.initialSkill, state.best.skill, state.config);
  const { head, sentence, amounts } = verdictWords(verdict, state, change);
  const [what, why] = nextStep(verdict, state, {
    run: outRoot,
    path: outRoot,
    bestSkillPath: `${outRoot}/best_skill.md`,
    skillFile: state.skillSource?.path,
    projectFile: state.projectFile && join(outRoot, state.projectFile),
  });
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`## ${title}`, '', ...lines];
  return markdownPage([
    [`# ${head}`, '', `${inMarkdown(sentence)} ${amounts}`],
    ...[
      chosenByWords(verdict),
      draftedWords(state),
      ...aboutTasksWords(state.aboutTasks).map(inMarkdown),
      endWords(state),
    ].map((words) => (words === undefined ? [] : [words])),
    section('What changed', change.lines.length === 0 ? [] : diffBlock(change.lines)),
    section('What speaks for each added line', supportItems(state)),
    section('Tasks gained and lost', flipItems(verdict.comparison)),
    section('What it cost', [
      ...amountRows('', [...costRows(state, verdict), { what: 'in all', ...verdict }]),
      ...mayHaveBeenWords(verdict).flatMap((words) => ['', words]),
    ]),
    section('Result card', cardItems(verdict.card)),
    ['## Next', '', `${nameAsData(what)} ${why}.`],
  ]);
}

/** What speaks for each line that the run added. */
function supportItems(state: RunState): string[] {
  const lines = lineSupport(state);
  if (lines.length === 0) return [];
  const items = lines.map((one) => {
    const step = one.step === null ? '' : `, step ${one.step}`;
    return `- **${one.standing}**${step}, ${supportWords(one)}: ${nameAsData(one.line)}`;
  });
  return [
    `${standingWords(lines)}.`,
    '',
    ...atMost(MOST_LINES, items, (rest) => `- … and ${plural(rest, 'more line')}`),
  ];
}

/** Changed lines as a block that nothing in them can end. */
function diffBlock(lines: readonly string[], most = MOST_LINES): string[] {
  const shown = atMost(most, lines.map(safeLine), (rest) => `… and ${plural(rest, 'more line')}`);
  return ['```diff', ...shown, '```'];
}

/** Inside a fence: nothing in a line may end it. */
export const safeLine = (line: string) => inMarkdown(line).replace(/`{3,}|~{3,}/g, "'''");

export const flipItems = ({ gained = [], lost = [] }: Flips = {}) => [
  ...namedTasks('gained', gained),
  ...namedTasks('lost', lost),
];

function namedTasks(word: string, ids: readonly string[]): string[] {
  if (ids.length === 0) return [];
  return [`- ${plural(ids.length, 'task')} ${word}: ${nameSome(ids.map(nameAsData), MOST_NAMES)}`];
}

const amountRows = (title: string, rows: readonly (Cost & { readonly what: string })[]) => [
  `| ${title}${title && ' '}| calls | tokens | dollars |`,
  '|---|---:|---:|---:|',
  ...rows.map((row) => `| ${row.what} | ${count(row.calls)} | ${count(row.tokens)} | ${dollarCell(row)} |`),
];

/** What a check came to as a page: for a comment, a summary of a workflow, a file. Every text of models and tasks is data in it. */
export function checkMarkdown(report: EvalReport): string {
  const { check, baseline, scored } = report;
  const [first, ...more] = checkSentences(report, nameAsData);
  const lead = `**${check.isPassed ? '✓' : '✗'} ${first!.head}:** ${inMarkdown(first!.text)} ${costSentence(check)}`;
  return markdownPage([
    [`### ${nameAsData(scored.document)}`],
    [lead, ...more.map(({ head, text }) => `${head}: ${inMarkdown(text)}`)],
    scoreTable(report),
    cardItems(report.card),
    flipItems(check.against?.comparison),
    costTable([scored, ...(baseline ? [baseline] : [])].map(({ document: name, cost }) => ({ name, cost }))),
    baseline ? changeDetails(baseline.text, scored.text, scored.document) : [],
  ]);
}

const cardItems = (card: ResultCard | undefined): string[] =>
  card ? cardRows(card).map(([what, text]) => `- ${what}: ${inMarkdown(text)}`) : [];

export const markdownPage = (sections: readonly (readonly string[])[]) =>
  `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;

export function costTable(sides: readonly { readonly name: string; readonly cost: Cost }[]): string[] {
  const rows = sides.map(({ name, cost }) => ({ ...cost, what: nameAsData(name) }));
  return amountRows('what it cost', rows);
}

/** A comment has room for some ten thousand letters. */
const MOST_CHANGED_LINES = 200;
const LONGEST_LINE = 200;

/** The skill's change, folded away. */
export function changeDetails(before: string, after: string, document: string): string[] {
  const { lines, ...counts } = skillChange(before, after);
  if (lines.length === 0) return [];
  const short = lines.map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line));
  const title = `What changed in ${nameAsData(document).replaceAll('`', '')}: ${lineWords(counts)}`;
  return ['<details>', `<summary>${title}</summary>`, '', ...diffBlock(short, MOST_CHANGED_LINES), '', '</details>'];
}

/** By split, and by kind of task if there are several. */
function scoreTable({ scored, baseline, check }: EvalReport): string[] {
  const rows = [...splitRows(scored, baseline), ...kindRows(scored, baseline)];
  const head = baseline
    ? ['| | before | now | tasks |', '|---|---:|---:|---:|']
    : ['| | now | tasks |', '|---|---:|---:|'];
  const title = check.metric === 'hard' ? [] : ['Tasks that are right:', ''];
  return [...title, ...head, ...rows];
}

const row = (name: string, before: number | null | undefined, now: number | null, tasks: string) =>
  `| ${nameAsData(name)} |${before === undefined ? '' : ` ${percent(before)} |`} ${percent(now)} | ${tasks} |`;

function splitRows({ splits }: ScoredDocument, baseline: ScoredDocument | undefined): string[] {
  const hard = ({ evaluation }: SkillScore) => meansOf(evaluation).hard;
  return Object.entries(splits).map(([name, score]) =>
    row(name, baseline && hard(baseline.splits[name]!), hard(score), taskCell(countTasks([score.evaluation]))),
  );
}

function kindRows({ whole }: ScoredDocument, baseline: ScoredDocument | undefined): string[] {
  const hard = (bucket: Bucket | undefined) => bucket && bucketMeans(bucket).hard;
  const kinds = Object.entries(whole.buckets).filter(([kind]) => kind !== 'overall');
  return kinds.map(([kind, bucket]) =>
    row(kind, baseline && (hard(baseline.whole.buckets[kind]) ?? null), hard(bucket) ?? null, String(bucket.total)),
  );
}

/** How a task is scored: by the metric of the gate. */
export type JUnitMetric = { readonly gateMetric: 'hard' | 'soft' | 'mixed'; readonly gateMixedWeight: number };

/** The tasks of a check as JUnit XML, a suite for each split. Tasks without a score are errors. */
export function junitText(report: EvalReport, metric: JUnitMetric): string {
  const suites = Object.entries(report.scored.splits).map(([split, score]) => suite(split, score, report, metric));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="skillopt eval">',
    ...suites.flat(),
    '</testsuites>',
    '',
  ].join('\n');
}

function suite(split: string, { results }: SkillScore, { baseline, check, scored }: EvalReport, metric: JUnitMetric) {
  const scoreOf = ({ hard, soft }: RolloutResult) =>
    selectGateScore(hard, soft, metric.gateMetric, metric.gateMixedWeight);
  const before = new Map(baseline?.splits[split]?.results.map((result) => [result.id, result]));
  const isFailed = (result: RolloutResult) => !result.errored && scoreOf(result) < PASS_MARK;
  const counts = {
    name: split,
    tests: results.length,
    failures: results.filter(isFailed).length,
    errors: results.filter(({ errored }) => errored).length,
  };
  return [
    `<testsuite${attributes(counts)}>`,
    ...properties({
      skill: scored.document,
      verdict: check.kind,
      score: check.score ?? undefined,
      minScore: check.minScore,
      baseline: check.against?.comparison?.before,
      calls: check.cost.calls,
      costUsd: check.cost.isPriced ? check.cost.costUsd : undefined,
    }),
    ...results.flatMap((result) => {
      const old = before.get(result.id);
      const known = {
        score: result.errored ? undefined : scoreOf(result),
        baseline: !old || old.errored ? undefined : scoreOf(old),
      };
      return testcase(split, result, known, isFailed(result));
    }),
    '</testsuite>',
  ];
}

type Scores = { readonly score: number | undefined; readonly baseline: number | undefined };

function testcase(split: string, result: RolloutResult, scores: Scores, isFailed: boolean): string[] {
  const { id, taskType, errored, failReason = '' } = result;
  const name = attributes({ classname: taskType ? `${split}.${taskType}` : split, name: id });
  const message = attributes({ message: short(failReason, 200) });
  const fault = [
    ...(errored ? [`<error${message}>${xmlText(failReason)}</error>`] : []),
    ...(isFailed ? [`<failure${message}>${xmlText(detail(result))}</failure>`] : []),
  ];
  return [`<testcase${name}>`, ...properties(scores), ...fault, '</testcase>'];
}

function detail({ question, referenceText, predictedAnswer, failReason }: RolloutResult): string {
  const parts = Object.entries({ question, expected: referenceText, answer: predictedAnswer, reason: failReason });
  return parts.flatMap(([title, text]) => (text ? [`${title}: ${short(text)}`] : [])).join('\n');
}

function properties(values: Readonly<Record<string, string | number | undefined>>): string[] {
  const known = Object.entries(values).filter(([, value]) => value !== undefined);
  if (known.length === 0) return [];
  const rows = known.map(([name, value]) => `<property${attributes({ name, value: value! })}/>`);
  return ['<properties>', ...rows, '</properties>'];
}

const attributes = (values: Readonly<Record<string, string | number>>) =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${xmlText(String(value))}"`)
    .join('');

const short = (text: string, most = 1_000) => {
  const start = head(text, most);
  return start.length < text.length ? `${start}…` : start;
};

/** Characters that XML may not hold, not even by number. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Line breaks and tabs are given by number: in an attribute, readers would turn them into spaces. */
const xmlText = (text: string) =>
  text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"'\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** A page for the log of a workflow, with the verdict as an annotation. Commands are off inside the page: it holds foreign text. */
export function githubLines(report: EvalReport, page: string): string[] {
  const level = report.check.isPassed ? 'notice' : 'error';
  const [first] = checkSentences(report);
  const end = randomUUID();
  return [
    `::stop-commands::${end}`,
    ...page.trimEnd().split('\n'),
    `::${end}::`,
    annotation(level, report.scored.document, `${first!.head}: ${first!.text}`),
  ];
}

/** What stopped a measurement, as an annotation. */
export const githubError = (document: string, message: string) =>
  annotation('error', document, `Not measured: ${message}`);

const annotation = (level: string, document: string, message: string) =>
  `::${level} title=${property(`skillopt: ${document}`)}::${data(message)}`;

const data = (text: string) => oneLine(text).replaceAll('%', '%25');
const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
