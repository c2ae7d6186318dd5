import { join } from 'node:path';
import {
  type Amounts,
  type Comparison,
  chosenByWords,
  costRows,
  dollarCell,
  draftedWords,
  nextStep,
  type RunState,
  verdictOf,
  verdictWords,
} from '../../core/run/index.ts';
import { count, inMarkdown, nameAsData, plural } from '../../core/text/index.ts';
import { skillChange } from './skill-change.ts';

const MOST_LINES = 400;
const MOST_NAMES = 100;

/** What the terminal says of a run, as a page: `report.md`. Every text of models and tasks is data in it. */
export function reportView(state: RunState, outRoot: string, spent?: Amounts): string {
  const verdict = verdictOf(state, { spent });
  const change = skillChange(state.initialSkill, state.best.skill, state.config);
  const { head, sentence, amounts } = verdictWords(verdict, state, change);
  const more = [chosenByWords(verdict), draftedWords(state)].flatMap((words) =>
    words === undefined ? [] : ['', words],
  );
  const [what, why] = nextStep(verdict, state, placeOf(state, outRoot));
  const sections = [
    [`# ${head}`, '', `${inMarkdown(sentence)} ${amounts}`, ...more],
    changeSection(change.lines),
    taskSection(verdict.comparison),
    costSection(state, verdict),
    ['## Next', '', `${nameAsData(what)} ${why}.`],
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

const placeOf = ({ skillSource, projectFile }: RunState, outRoot: string) => ({
  run: outRoot,
  path: outRoot,
  bestSkillPath: `${outRoot}/best_skill.md`,
  skillFile: skillSource?.path,
  projectFile: projectFile === undefined ? undefined : join(outRoot, projectFile),
});

const changeSection = (lines: readonly string[]) =>
  lines.length === 0 ? [] : ['## What changed', '', ...diffBlock(lines)];

/** Changed lines as a block that nothing in them can end. */
export function diffBlock(lines: readonly string[], most = MOST_LINES): string[] {
  const rest = lines.length - most;
  const more = rest > 0 ? [`… and ${plural(rest, 'more line')}`] : [];
  return ['```diff', ...lines.slice(0, most).map(safeLine), ...more, '```'];
}

/** Inside a fence: nothing in a line may end it. */
const safeLine = (line: string) => inMarkdown(line).replace(/`{3,}|~{3,}/g, "'''");

function taskSection(comparison: Comparison | undefined): string[] {
  const { gained = [], lost = [] } = comparison ?? {};
  const rows = [...namedTasks('gained', gained), ...namedTasks('lost', lost)];
  return rows.length === 0 ? [] : ['## Tasks gained and lost', '', ...rows];
}

/** The tasks of one kind as an entry of a list. */
export function namedTasks(word: string, ids: readonly string[]): string[] {
  if (ids.length === 0) return [];
  const rest = ids.length - MOST_NAMES;
  const names = ids.slice(0, MOST_NAMES).map(nameAsData).join(', ');
  return [`- ${plural(ids.length, 'task')} ${word}: ${names}${rest > 0 ? ` and ${rest} more` : ''}`];
}

function costSection(state: RunState, verdict: ReturnType<typeof verdictOf>): string[] {
  const rows = [...costRows(state, verdict), { what: 'in all', ...verdict }].map(
    (row) => `| ${row.what} | ${count(row.calls)} | ${count(row.tokens)} | ${dollarCell(row)} |`,
  );
  return ['## What it cost', '', '| | calls | tokens | dollars |', '|---|---:|---:|---:|', ...rows];
}
