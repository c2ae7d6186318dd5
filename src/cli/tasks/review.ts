import { existsSync } from 'node:fs';
import { SkillError } from '../../core/contracts/index.ts';
import { isObject, oneLine, plural, printable, shellWord } from '../../core/text/index.ts';
import { nextLines, textWidth, wrap } from '../../report/index.ts';
import { shownPath } from '../../stores/index.ts';
import {
  type Decision,
  decideLine,
  editable,
  readEdited,
  readTaskLines,
  saveDecision,
  type TaskLine,
  type TaskRow,
  unreviewedLines,
  writeTaskLines,
} from '../../tasks/index.ts';
import { projectOf, tasksPath } from '../flags/project-flags.ts';
import { answered, editByHand } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';

export type ReviewFlags = { readonly config?: string; readonly keepAll?: boolean };

/** Goes through what a model drafted. Each decision is saved before the next task is shown. */
export async function reviewTasks(file: string | undefined, { config, keepAll }: ReviewFlags, terminal: Terminal) {
  const path = tasksPath(file, await projectOf({ config }, terminal), terminal);
  const shown = shownPath(path, terminal.io.cwd());
  if (!existsSync(path)) {
    const hint = 'Draft tasks with: skillopt tasks draft, or name the file: skillopt tasks review FILE';
    throw new SkillError('TASKS_INVALID', `${shown} does not exist, so there is nothing to review`, { hint });
  }
  const lines = await readTaskLines(path, shown);
  const open = unreviewedLines(lines);
  const counts = { keep: 0, drop: 0, edit: 0 };
  if (keepAll) {
    const kept = open.reduce((all, { text }) => decideLine(all, text, 'keep'), lines);
    if (open.length > 0) await writeTaskLines(path, kept);
    counts.keep = open.length;
  } else if (terminal.canAsk) await walk(path, open, counts, terminal);
  else return list(shown, open, terminal);
  const named = file === undefined ? '' : ` ${shellWord(shown)}`;
  const left = unreviewedLines(await readTaskLines(path, shown)).length;
  const next: [string, string] =
    left > 0
      ? [`npx skillopt tasks review${named}`, 'the rest']
      : [`npx skillopt tasks check${named}`, 'what is wrong with them'];
  terminal.answer({ file: shown, kept: counts.keep, dropped: counts.drop, edited: counts.edit, unreviewed: left }, [
    `${counts.keep} kept, ${counts.edit} edited, ${counts.drop} dropped, ${left} not reviewed yet`,
    ...nextLines([next], terminal),
  ]);
}

function list(shown: string, open: readonly TaskLine[], { answer, colors }: Terminal): void {
  const tasks = open.map(({ row }) => row!);
  answer({ file: shown, unreviewed: tasks.length, tasks }, [
    `${plural(tasks.length, 'task')} in ${shown} drafted by a model and reviewed by nobody`,
    ...tasks.map((row) => `  ${oneLine(String(row.question))}  ${colors.dim(oneLine(scoringLines(row).join(' ')))}`),
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

type Counts = Record<'keep' | 'drop' | 'edit', number>;

async function walk(path: string, open: readonly TaskLine[], counts: Counts, terminal: Terminal): Promise<void> {
  const { select } = await import('@clack/prompts');
  const typed = new Map<TaskLine, string>();
  for (let index = 0; index < open.length; ) {
    const line = open[index]!;
    show(line.row!, terminal);
    const message = `${index + 1} of ${open.length}`;
    const choice = await answered(select({ message, options: CHOICES, output: process.stderr }));
    if (choice === 'quit') return;
    const decision = choice === 'edit' ? await edited(line, typed, terminal) : choice;
    if (decision === undefined) continue; // it is asked about again
    if (decision !== 'skip') {
      await saveDecision(path, line, decision);
      counts[choice as keyof Counts] += 1;
    }
    index += 1;
  }
}

/** The question below takes ten rows: the list, what is around it, and the cursor. An empty line is above. */
const ROWS_BELOW = 11;
const USUAL_ROWS = 24;

function show(row: TaskRow, { io: { stderr }, say, width, errorColors: { dim } }: Terminal): void {
  const rows = (stderr.rows ?? USUAL_ROWS) - ROWS_BELOW;
  const card = cardLines(row, { width: Math.min(width, stderr.columns ?? width), rows, dim });
  for (const line of ['', ...card]) say(line);
}

/** A text that is no task is shown again as it was typed. */
async function edited(line: TaskLine, typed: Map<TaskLine, string>, terminal: Terminal): Promise<Decision | undefined> {
  const before = typed.get(line) ?? editable(line.row!);
  const text = await editByHand(before, { file: 'task.json', message: 'The task as JSON' }, terminal.io.env);
  const read = readEdited(text, line.row!);
  if ('row' in read) return { edited: read.row };
  typed.set(line, text.trimEnd());
  terminal.warn(`this is no task: ${read.problem}`);
  return undefined;
}

type Screen = { readonly width: number; readonly rows: number; dim(text: string): string };
type CardPart = { readonly label: string; readonly lines: readonly string[] };

const LABEL_WIDTH = 11;

/** A task as a person decides about it: what is asked, how it is scored, its kind and why it is there, within the rows given. */
function cardLines(row: TaskRow, { width, rows, dim }: Screen): string[] {
  const room = Math.max(20, width - LABEL_WIDTH);
  const doubt = row.doubtful === true ? 'independent solutions do not confirm its reference' : '';
  const texts: readonly (readonly [string, readonly string[]])[] = [
    ['kind', [oneLine(String(row.taskType ?? ''))]],
    ['doubtful', [doubt]],
    ['question', printable(String(row.question)).trim().split('\n')],
    ['scored by', scoringLines(row)],
    ['why', [oneLine(String(row.why ?? ''))]],
  ];
  const parts = texts
    .filter(([, lines]) => lines.join('') !== '')
    .map(([label, lines]) => ({ label, lines: lines.flatMap((line) => inRoom(line, room)) }));
  return fitParts(parts, rows).flatMap(({ label, lines }) =>
    lines.map((line, at) => dim((at === 0 ? label : '').padEnd(LABEL_WIDTH)) + line),
  );
}

/** Breaks a word that is too wide: the terminal would break it, and the rows would be miscounted. */
function inRoom(line: string, room: number): string[] {
  const isItem = line.startsWith('- ');
  return wrap(line, room, isItem ? '  ' : '').flatMap((one) =>
    textWidth(one) <= room ? [one] : [...one.matchAll(new RegExp(`.{1,${room}}`, 'gu'))].map(([piece]) => piece),
  );
}

/** The longest parts are cut until all of them fit; each keeps its beginning. */
function fitParts(parts: readonly CardPart[], rows: number): readonly CardPart[] {
  let most = Math.max(...parts.map(({ lines }) => lines.length));
  const height = () => parts.reduce((sum, { lines }) => sum + Math.min(lines.length, most), 0);
  while (most > 2 && height() > rows) most -= 1;
  return parts.map(({ label, lines }) => {
    if (lines.length <= most) return { label, lines };
    const rest = lines.length - most + 1;
    return { label, lines: [...lines.slice(0, most - 1), `… ${rest} more lines: edit shows all of them`] };
  });
}

function scoringLines({ answers, judge }: TaskRow): string[] {
  if (answers !== undefined) return [Array.from([answers].flat(), (one) => asText(one)).join(' or ')];
  if (!isObject(judge)) return [asText(judge)];
  const { kind, ...rest } = judge;
  const fields = Object.entries(rest).flatMap(([name, value]) => fieldLines(name, value));
  return [`${asText(kind, printable)}:`, ...fields];
}

function fieldLines(name: string, value: unknown): string[] {
  if (name === 'rubric') return printable(String(value)).split('\n');
  if ((name === 'criteria' || name === 'checks') && Array.isArray(value)) return value.map((each) => `- ${item(each)}`);
  return [`- ${name} ${asText(value)}`];
}

/** `icontains "supervisor"`, `not regex "^Ask"`. */
function item(check: unknown): string {
  if (!isObject(check)) return asText(check, oneLine);
  const { type, op = type, value, arg = value, not, ...rest } = check;
  const more = Object.entries(rest).map(([name, one]) => `${name} ${asText(one)}`);
  const what = [not === true ? 'not' : '', asText(op, oneLine), arg === undefined ? '' : asText(arg)];
  return [what.filter((word) => word !== '').join(' '), ...more].join(', ');
}

const asText = (value: unknown, asWritten: (text: string) => string = JSON.stringify): string =>
  typeof value === 'string' ? printable(asWritten(value)) : printable(JSON.stringify(value) ?? 'nothing');
