import { randomUUID } from 'node:crypto';
import { type RolloutResult, selectGateScore } from '../core/contracts/index.ts';
import { PASS_MARK } from '../core/stats/index.ts';
import { head, oneLine } from '../core/text/index.ts';
import { checkSentences, type EvalReport, type SkillScore } from './eval-report.ts';

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
      score: check.score,
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
