import type { ScoredDocument } from '../../../app/index.ts';
import type { Bucket } from '../../../core/contracts/index.ts';
import { type Cost, dollarCell, lineWords } from '../../../core/run/index.ts';
import { count, inMarkdown, nameAsData, percent } from '../../../core/text/index.ts';
import { diffBlock, namedTasks, type SkillScore, skillChange } from '../../../train/index.ts';
import { type EvalReport, tasksOf } from '../eval-report.ts';
import { countTasks, taskCell } from '../scored-tasks.ts';
import { checkSentences, costSentence } from './check-words.ts';

/** What a check came to as a page: for a comment, a summary of a workflow, a file. Every text of models and tasks is data in it. */
export function checkMarkdown(report: EvalReport): string {
  const { check, baseline, scored } = report;
  const [first, ...more] = checkSentences(check, tasksOf(report), baseline && nameAsData(baseline.document));
  const lead = `**${check.isPassed ? '✓' : '✗'} ${first!.head}:** ${inMarkdown(first!.text)} ${costSentence(check)}`;
  return markdownPage([
    [`### ${nameAsData(scored.document)}`],
    [lead, ...more.map(({ head, text }) => `${head}: ${inMarkdown(text)}`)],
    scoreTable(report),
    flipItems(check.against?.comparison),
    costTable([scored, ...(baseline ? [baseline] : [])].map(({ document, cost }) => [document, cost] as const)),
    baseline ? changeDetails(baseline.text, scored.text, scored.document) : [],
  ]);
}

export const markdownPage = (sections: readonly (readonly string[])[]) =>
  `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;

type Flips = { readonly gained: readonly string[]; readonly lost: readonly string[] };

export const flipItems = (flips: Flips | undefined) =>
  flips ? [...namedTasks('gained', flips.gained), ...namedTasks('lost', flips.lost)] : [];

export const costTable = (sides: readonly (readonly [name: string, cost: Cost])[]) => [
  '| what it cost | calls | tokens | dollars |',
  '|---|---:|---:|---:|',
  ...sides.map(
    ([name, cost]) => `| ${nameAsData(name)} | ${count(cost.calls)} | ${count(cost.tokens)} | ${dollarCell(cost)} |`,
  ),
];

/** A comment has room for some ten thousand letters. */
const MOST_LINES = 200;
const LONGEST_LINE = 200;

/** The skill's change, folded away. */
export function changeDetails(before: string, after: string, document: string): string[] {
  const { lines, ...counts } = skillChange(before, after);
  if (lines.length === 0) return [];
  const short = lines.map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line));
  const title = `What changed in ${nameAsData(document).replaceAll('`', '')}: ${lineWords(counts)}`;
  return ['<details>', `<summary>${title}</summary>`, '', ...diffBlock(short, MOST_LINES), '', '</details>'];
}

/** By split, and by kind of task where there are several. */
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
  const hard = (score: SkillScore) => (countTasks([score.evaluation]).scored === 0 ? null : score.evaluation.hard);
  return Object.entries(splits).map(([name, score]) =>
    row(name, baseline && hard(baseline.splits[name]!), hard(score), taskCell(countTasks([score.evaluation]))),
  );
}

function kindRows({ whole }: ScoredDocument, baseline: ScoredDocument | undefined): string[] {
  const hard = (bucket: Bucket | undefined) => (bucket && bucket.total > 0 ? bucket.hard : null);
  const kinds = Object.entries(whole.buckets).filter(([kind]) => kind !== 'overall');
  return kinds.map(([kind, bucket]) =>
    row(kind, baseline && hard(baseline.whole.buckets[kind]), hard(bucket), String(bucket.total)),
  );
}
