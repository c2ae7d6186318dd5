import { type RolloutResult, selectGateScore } from '../core/contracts/index.ts';
import { PASS_MARK } from '../core/stats/index.ts';
import type { EvalReport, SkillScore } from './eval-report.ts';

/** How a task is scored: by the metric of the gate. */
export type JUnitMetric = { readonly gateMetric: 'hard' | 'soft' | 'mixed'; readonly gateMixedWeight: number };

/** The tasks of a check as JUnit XML, a suite for each split: failures with what was expected, errors for tasks without a score. */
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

type Known = { readonly score: number | undefined; readonly baseline: number | undefined };

function testcase(split: string, result: RolloutResult, known: Known, isFailed: boolean): string[] {
  const { id, taskType, errored, failReason = '' } = result;
  const name = attributes({ classname: taskType ? `${split}.${taskType}` : split, name: id });
  const fault = errored
    ? element('error', failReason, failReason)
    : isFailed
      ? element('failure', failReason, detail(result))
      : [];
  return [`<testcase${name}>`, ...properties(known), ...fault, '</testcase>'];
}

function detail({ question, referenceText, predictedAnswer, failReason }: RolloutResult): string {
  const parts = Object.entries({ question, expected: referenceText, answer: predictedAnswer, reason: failReason });
  return parts.flatMap(([title, text]) => (text ? [`${title}: ${short(text)}`] : [])).join('\n');
}

const element = (name: string, message: string, text: string) => [
  `<${name}${attributes({ message: short(message, 200) })}>${xmlText(text)}</${name}>`,
];

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

/** A reader of a test report wants to see what it is about, not all of it. */
const LONGEST = 1_000;

const short = (text: string, most = LONGEST) => {
  const letters = [...text.slice(0, 2 * most)];
  return letters.length > most ? `${letters.slice(0, most).join('')}…` : letters.join('');
};

/** What no XML may hold, not even by its number. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Also in an attribute: there a reader would take line breaks and tabs for spaces unless they are given by number. */
const xmlText = (text: string) =>
  text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"'\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`);
