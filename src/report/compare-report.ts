import { randomUUID } from 'node:crypto';
import { type Cost, dollarCell } from '../core/run/index.ts';
import type { Evidence } from '../core/stats/index.ts';
import { count, inMarkdown, nameAsData, oneLine, percent } from '../core/text/index.ts';
import { patchOf } from './changes.ts';
import { checkSentences, type EvalReport, type SideComparison, tasksOf, tasksText } from './eval-report.ts';
import { type Column, type LineStyle, table } from './layout.ts';
import { changeDetails, costTable, flipItems, markdownPage } from './markdown.ts';
import { namedLines } from './run-lines.ts';
import { change, METRICS, span } from './verdict-words.ts';

/** A skill with what is known of it by tasks, whether it was scored just now or by a run. */
export type Side = {
  readonly name: string;
  readonly text: string;
  readonly evidence: Evidence;
  readonly cost: Cost;
  /** What the target read besides the text, if that is known. */
  readonly version?: string | undefined;
};

/** Two skills, A and then B, as `compare` found them. */
export type CompareReport = {
  readonly a: Side;
  readonly b: Side;
  readonly split: string;
  readonly against: SideComparison;
  /** What else differs, and what the figures do not say. */
  readonly notes: readonly string[];
  /** What the costs are those of. */
  readonly costOf: 'the runs' | 'scoring them';
};

/** `[before the colon, after it]` */
function sentence({ a, b, split, against }: CompareReport, shown: (name: string) => string): [string, string] {
  const [one, other] = [shown(a.name), shown(b.name)];
  const { kind, comparison, metric } = against;
  const on = `on ${tasksText({ split, count: comparison!.tasks })}`;
  const figures = `${change(comparison!)}${METRICS[metric]} ${on}`;
  if (kind === 'no-change') return [`${one} and ${other} are the same skill`, `${percent(comparison!.after)} ${on}.`];
  const sure = `${figures}, ${kind === 'not-proven' ? '' : 'proven, '}${span({ gain: comparison!.gain })}.`;
  if (kind === 'not-proven') return [`No difference is proven between ${one} and ${other}`, sure];
  return [`${other} is ${kind} than ${one}`, sure];
}

/** For machines. */
export function compareValue(report: CompareReport): object {
  const { a, b, split, against, notes } = report;
  const side = ({ name, evidence, cost }: Side) => ({ name, tasks: evidence.size, cost });
  const versions = { from: a.name, to: b.name, before: a.text, after: b.text };
  const text = sentence(report, oneLine).join(': ');
  return { split, ...against, text, a: side(a), b: side(b), notes, patch: patchOf(versions) };
}

/** For people. */
export function compareLines(report: CompareReport, style: LineStyle): string[] {
  const { colors } = style;
  const { kind, comparison } = report.against;
  const paint = { better: colors.green, worse: colors.red, 'not-proven': colors.yellow, 'no-change': colors.yellow }[
    kind
  ];
  const [head, text] = sentence(report, oneLine);
  return [
    `${colors.bold(paint(`${head}:`))} ${text}`,
    ...commonLine(report),
    ...report.notes,
    ...namedLines(comparison ?? {}, style),
    '',
    ...costLines(report, style),
  ];
}

function commonLine({ a, b, against }: CompareReport): string[] {
  const [common, one, other] = [against.comparison!.tasks, a.evidence.size, b.evidence.size];
  if (common === one && common === other) return [];
  return [`${common} tasks are common: ${oneLine(a.name)} has ${one}, ${oneLine(b.name)} has ${other}`];
}

function costLines({ a, b, costOf }: CompareReport, { width, colors }: LineStyle): string[] {
  const columns: Column[] = [
    { title: `what ${costOf} cost`, isElastic: true },
    ...['calls', 'tokens', 'dollars'].map((title) => ({ title, align: 'right' as const })),
  ];
  const cells = (name: string, cost: Cost) => [oneLine(name), count(cost.calls), count(cost.tokens), dollarCell(cost)];
  return table(columns, [cells(a.name, a.cost), cells(b.name, b.cost)], { width, paintTitle: colors.dim });
}

/** The same as a page. */
export function compareMarkdown(report: CompareReport): string {
  const { a, b, against, notes } = report;
  const [head, text] = sentence(report, nameAsData);
  const remarks = [...commonLine(report), ...notes].map((note) => `- ${inMarkdown(oneLine(note))}`);
  return markdownPage([
    [`**${head}:** ${text}`],
    remarks,
    flipItems(against.comparison),
    costTable([
      [a.name, a.cost],
      [b.name, b.cost],
    ]),
    changeDetails(a.text, b.text, b.name),
  ]);
}

/** A page for the log of a workflow, with the verdict as an annotation. In a page commands are off: it holds foreign text. */
export function githubLines(report: EvalReport, page: string): string[] {
  const { check, baseline, scored } = report;
  const level = check.isPassed ? 'notice' : 'error';
  const sentences = checkSentences(check, tasksOf(report), baseline?.document);
  const end = randomUUID();
  return [
    `::stop-commands::${end}`,
    ...page.trimEnd().split('\n'),
    `::${end}::`,
    ...sentences.slice(0, 1).map(({ head, text }) => annotation(level, scored.document, `${head}: ${text}`)),
  ];
}

/** What stopped a measurement, as an annotation. */
export const githubError = (document: string, message: string) =>
  annotation('error', document, `Not measured: ${message}`);

const annotation = (level: string, document: string, message: string) =>
  `::${level} title=${property(`skillopt: ${document}`)}::${data(message)}`;

const data = (text: string) => oneLine(text).replaceAll('%', '%25');
const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
