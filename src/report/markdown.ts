import { join } from 'node:path';
import type { Bucket } from '../core/contracts/index.ts';
import { type Amounts, type Cost, costRows, dollarCell, type RunState, verdictOf } from '../core/run/index.ts';
import { count, inMarkdown, nameAsData, percent, plural } from '../core/text/index.ts';
import { skillChange } from './changes.ts';
import {
  checkSentences,
  costSentence,
  countTasks,
  type EvalReport,
  type ScoredDocument,
  type SkillScore,
  taskCell,
} from './eval-report.ts';
import { chosenByWords, draftedWords, lineWords, nextStep, verdictWords } from './verdict-words.ts';

const MOST_LINES = 400;
const MOST_NAMES = 100;

/** What the terminal says about a run, as a page: `report.md`. Every text of models and tasks is data in it. */
export function reportView(state: RunState, outRoot: string, spent?: Amounts): string {
  const verdict = verdictOf(state, { spent });
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
    ...[chosenByWords(verdict), draftedWords(state)].map((words) => (words === undefined ? [] : [words])),
    section('What changed', change.lines.length === 0 ? [] : diffBlock(change.lines)),
    section('Tasks gained and lost', flipItems(verdict.comparison)),
    section('What it cost', amountRows('', [...costRows(state, verdict), { what: 'in all', ...verdict }])),
    ['## Next', '', `${nameAsData(what)} ${why}.`],
  ]);
}

/** Changed lines as a block that nothing in them can end. */
function diffBlock(lines: readonly string[], most = MOST_LINES): string[] {
  const rest = lines.length - most;
  const more = rest > 0 ? [`… and ${plural(rest, 'more line')}`] : [];
  return ['```diff', ...lines.slice(0, most).map(safeLine), ...more, '```'];
}

/** Inside a fence: nothing in a line may end it. */
export const safeLine = (line: string) => inMarkdown(line).replace(/`{3,}|~{3,}/g, "'''");

type Flips = { readonly gained?: readonly string[]; readonly lost?: readonly string[] };

export const flipItems = ({ gained = [], lost = [] }: Flips = {}) => [
  ...namedTasks('gained', gained),
  ...namedTasks('lost', lost),
];

function namedTasks(word: string, ids: readonly string[]): string[] {
  if (ids.length === 0) return [];
  const rest = ids.length - MOST_NAMES;
  const names = ids.slice(0, MOST_NAMES).map(nameAsData).join(', ');
  return [`- ${plural(ids.length, 'task')} ${word}: ${names}${rest > 0 ? ` and ${rest} more` : ''}`];
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
    flipItems(check.against?.comparison),
    costTable([scored, ...(baseline ? [baseline] : [])].map(({ document: name, cost }) => ({ name, cost }))),
    baseline ? changeDetails(baseline.text, scored.text, scored.document) : [],
  ]);
}

export const markdownPage = (sections: readonly (readonly string[])[]) =>
  `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;

export const costTable = (sides: readonly { readonly name: string; readonly cost: Cost }[]) =>
  amountRows(
    'what it cost',
    sides.map(({ name, cost }) => ({ ...cost, what: nameAsData(name) })),
  );

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
