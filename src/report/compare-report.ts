import { type Cost, dollarCell } from '../core/run/index.ts';
import type { Evidence } from '../core/stats/index.ts';
import { count, inMarkdown, nameAsData, oneLine, percent } from '../core/text/index.ts';
import { patchOf } from './changes.ts';
import { type SideComparison, tasksText } from './eval-report.ts';
import { figureTable, type LineStyle } from './layout.ts';
import { changeDetails, costTable, flipItems, markdownPage } from './markdown.ts';
import { namedLines } from './run-lines.ts';
import { change, METRICS, span } from './verdict-words.ts';

/** A skill with its evidence by task, whether it was scored just now or by a run. */
export type Side = {
  readonly name: string;
  readonly text: string;
  readonly evidence: Evidence;
  readonly cost: Cost;
  /** What the target read besides the text, if known. */
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
  readonly costOf: 'the runs' | 'scoring them';
  /** Of two runs: which settings differ. */
  readonly settings?: readonly { readonly name: string; readonly a: string; readonly b: string }[];
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

/** `[before the colon, after it]`, on one line each. */
export const compareWords = (report: CompareReport) => sentence(report, oneLine);

export function compareValue(report: CompareReport): object {
  const { a, b, split, against, notes } = report;
  const side = ({ name, evidence, cost }: Side) => ({ name, tasks: evidence.size, cost });
  const versions = { from: a.name, to: b.name, before: a.text, after: b.text };
  const text = compareWords(report).join(': ');
  return { split, ...against, text, a: side(a), b: side(b), notes, patch: patchOf(versions) };
}

export function compareLines(report: CompareReport, style: LineStyle): string[] {
  const { colors } = style;
  const { kind, comparison } = report.against;
  const paint = { better: colors.green, worse: colors.red, 'not-proven': colors.yellow, 'no-change': colors.yellow }[
    kind
  ];
  const [head, text] = compareWords(report);
  const cells = ({ name, cost }: Side) => [oneLine(name), count(cost.calls), count(cost.tokens), dollarCell(cost)];
  return [
    `${colors.bold(paint(`${head}:`))} ${text}`,
    ...commonLine(report),
    ...report.notes,
    ...namedLines(comparison ?? {}, style),
    '',
    ...figureTable(
      [`what ${report.costOf} cost`, 'calls', 'tokens', 'dollars'],
      [report.a, report.b].map(cells),
      style,
    ),
  ];
}

function commonLine({ a, b, against }: CompareReport): string[] {
  const [common, one, other] = [against.comparison!.tasks, a.evidence.size, b.evidence.size];
  if (common === one && common === other) return [];
  return [`${common} tasks are common: ${oneLine(a.name)} has ${one}, ${oneLine(b.name)} has ${other}`];
}

export function compareMarkdown(report: CompareReport): string {
  const { a, b, against, notes } = report;
  const [head, text] = sentence(report, nameAsData);
  const remarks = [...commonLine(report), ...notes].map((note) => `- ${inMarkdown(oneLine(note))}`);
  return markdownPage([
    [`**${head}:** ${text}`],
    remarks,
    flipItems(against.comparison),
    costTable([a, b]),
    changeDetails(a.text, b.text, b.name),
  ]);
}
