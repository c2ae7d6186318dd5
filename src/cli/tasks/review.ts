import { oneLine } from '../../core/text/printable.ts';
import { shownPath } from '../../stores/shown-path.ts';
import {
  type Decision,
  decideLine,
  editable,
  readEdited,
  saveDecision,
  unreviewedLines,
} from '../../tasks/review/review-file.ts';
import { readTaskLines, type TaskLine, writeTaskLines } from '../../tasks/task-file.ts';
import type { TaskRow } from '../../tasks/task-row.ts';
import { answered } from '../terminal/confirm.ts';
import { editText } from '../terminal/edit-text.ts';
import { plural } from '../terminal/figures.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { wrap } from '../terminal/wrap.ts';
import { projectOf, tasksPath } from './project-of.ts';

export type ReviewFlags = { readonly config?: string; readonly keepAll?: boolean };

/** Goes through what a model drafted. Each decision is saved before the next task is shown. */
export async function review(
  file: string | undefined,
  { config, keepAll }: ReviewFlags,
  terminal: Terminal,
): Promise<void> {
  const path = tasksPath(file, await projectOf({ config }, terminal), terminal);
  const shown = shownPath(path, terminal.io.cwd());
  const lines = await readTaskLines(path, shown);
  const open = unreviewedLines(lines);
  const counts = { keep: 0, drop: 0, edit: 0 };
  if (keepAll) {
    if (open.length > 0)
      await writeTaskLines(
        path,
        open.reduce((all, { text }) => decideLine(all, text, 'keep'), lines),
      );
    counts.keep = open.length;
  } else if (terminal.canAsk) await walk(path, open, counts, terminal);
  else return list(shown, open, terminal);
  const left = unreviewedLines(await readTaskLines(path, shown)).length;
  terminal.answer({ file: shown, kept: counts.keep, dropped: counts.drop, edited: counts.edit, unreviewed: left }, [
    `${counts.keep} kept, ${counts.edit} edited, ${counts.drop} dropped, ${left} not reviewed yet`,
    left > 0
      ? 'next:  npx skillopt tasks review  goes on with the rest'
      : 'next:  npx skillopt tasks check  what is wrong with them',
  ]);
}

/** For scripts, and for people without a terminal. */
function list(shown: string, open: readonly TaskLine[], { answer, colors }: Terminal): void {
  const tasks = open.map(({ row }) => row!);
  answer({ file: shown, unreviewed: tasks.length, tasks }, [
    `${plural(tasks.length, 'task')} in ${shown} drafted by a model and reviewed by nobody`,
    ...tasks.map((row) => `  ${oneLine(String(row.question))}  ${colors.dim(oneLine(scoringText(row)))}`),
    ...(tasks.length > 0 ? [colors.dim('A terminal asks about each. Elsewhere --keep-all keeps all of them.')] : []),
  ]);
}

const CHOICES = [
  { value: 'keep' as const, label: 'keep' },
  { value: 'drop' as const, label: 'drop' },
  { value: 'edit' as const, label: 'edit' },
  { value: 'skip' as const, label: 'skip, for later' },
  { value: 'quit' as const, label: 'quit; what you decided is saved' },
];

async function walk(
  path: string,
  open: readonly TaskLine[],
  counts: Record<'keep' | 'drop' | 'edit', number>,
  terminal: Terminal,
) {
  const { select } = await import('@clack/prompts');
  for (let index = 0; index < open.length; ) {
    const line = open[index]!;
    for (const text of cardLines(line.row!, terminal.width)) terminal.say(text);
    const message = `${index + 1} of ${open.length}`;
    const choice = await answered(select({ message, options: CHOICES, output: process.stderr }));
    if (choice === 'quit') return;
    const decision = choice === 'edit' ? await edited(line.row!, terminal) : choice;
    if (decision === undefined) continue; // it is asked about again
    if (decision !== 'skip') {
      await saveDecision(path, line, decision);
      counts[choice as 'keep' | 'drop' | 'edit'] += 1;
    }
    index += 1;
  }
}

function cardLines(row: TaskRow, width: number): string[] {
  const doubt = row.doubtful === true ? ['doubtful: independent solutions do not confirm its reference'] : [];
  const why = row.why ? [`why: ${oneLine(String(row.why))}`] : [];
  const lines = [
    `[${oneLine(String(row.taskType ?? ''))}] ${oneLine(String(row.question))}`,
    scoringText(row),
    ...why,
    ...doubt,
  ];
  return ['', ...lines.flatMap((line) => wrap(line, width, '  '))];
}

const scoringText = ({ answers, judge }: TaskRow) =>
  answers
    ? `answer: ${[answers]
        .flat()
        .map((one) => JSON.stringify(one))
        .join(' or ')}`
    : `scored by: ${JSON.stringify(judge)}`;

async function edited(row: TaskRow, terminal: Terminal): Promise<Decision | undefined> {
  const { VISUAL, EDITOR } = terminal.io.env;
  const editor = VISUAL || EDITOR;
  const text = editor ? await editText(editable(row), editor, 'task.json') : await inPrompt(editable(row));
  const read = readEdited(text, row);
  if ('row' in read) return { edited: read.row };
  terminal.warn(`this is no task: ${read.problem}`);
  return undefined;
}

async function inPrompt(text: string): Promise<string> {
  const { multiline } = await import('@clack/prompts');
  return answered(multiline({ message: 'The task as JSON', initialValue: text, output: process.stderr }));
}
