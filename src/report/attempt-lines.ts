import {
  type AgentEnd,
  type AgentRun,
  type AgentStep,
  END_WORDS,
  extrasOf,
  type FileChange,
  type RolloutResult,
  type TrajectoryStep,
  type WorkspaceDiff,
} from '../core/contracts/index.ts';
import { count, dollars, head, oneLine, plural, printable } from '../core/text/index.ts';
import { coloured } from './changes.ts';
import { atMost, clip, clipWords, duration, type LineStyle, noColors, padEnd, wrap } from './layout.ts';

/** One attempt at a task, and in which part of a run it was made. */
export type TaskAttempt = { readonly part: string; readonly step?: number; readonly result: RolloutResult };

type AttemptStyle = LineStyle & { readonly isComplete: boolean };

/** All attempts at a task in a line each, and the last one step by step. */
export function attemptLines(task: string, attempts: readonly TaskAttempt[], style: AttemptStyle): string[] {
  const { bold } = style.colors;
  const { part, result } = attempts.at(-1)!;
  const question = result.question ?? result.taskDescription ?? '';
  const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ['', bold(title), ...lines]);
  return [
    bold(`task ${task}`),
    ...shortened(question, '  ', style, 6),
    '',
    ...listLines(attempts, style),
    '',
    bold(`last attempt: ${part}`),
    ...factLines(result),
    ...section('what it did', stepLines(result, style)),
    ...section('what it changed', changeLines(result, style)),
    ...section('the verdict', verdictLines(result, style)),
  ];
}

/** An attempt from its first step to its verdict, whole and without colours, so that two can be compared. */
export function attemptText(result: RolloutResult): string {
  const style = { width: Number.POSITIVE_INFINITY, colors: noColors, isComplete: true };
  const parts = [factLines(result), stepLines(result, style), changeLines(result, style), verdictLines(result, style)];
  return `${parts.flat().join('\n')}\n`;
}

export function listLines(attempts: readonly TaskAttempt[], { width }: Pick<LineStyle, 'width'>): string[] {
  const widest = Math.max(...attempts.map(({ part }) => part.length));
  return attempts.map(({ part, result }) => {
    const reason = head((result.failReason ?? '').replace(/\s+/g, ' '), 300);
    const notes = [result.skillUnread ? 'skill not loaded' : '', reason].filter(Boolean).join('; ');
    return clipWords(`  ${padEnd(part, widest)}  ${padEnd(scoreOf(result), 13)}  ${notes}`, width).trimEnd();
  });
}

const scoreOf = ({ errored, hard, soft }: RolloutResult, word = '') =>
  errored ? 'no score' : `${hard === 1 ? 'passed' : 'failed'} (${word}${soft.toFixed(2)})`;

/** Whether the skill was loaded, and what the attempt took. */
function factLines(result: RolloutResult): string[] {
  const { skillsLoaded, ended, costUsd } = extrasOf(result);
  const loaded = skillsLoaded === undefined ? [] : [skillLine(result, skillsLoaded)];
  const took = [
    ...(result.nTurns === undefined ? [] : [plural(result.nTurns, 'turn')]),
    ...(costUsd === undefined ? [] : [`$${dollars(costUsd)}`]),
    ...(ended === undefined || ended === 'done' ? [] : [`ended: ${END_WORDS[ended as AgentEnd] ?? ended}`]),
  ];
  return [...loaded, ...(took.length === 0 ? [] : [`  ${took.join(', ')}`])];
}

function skillLine({ skillUnread }: RolloutResult, loaded: readonly string[]): string {
  const names = loaded.length > (skillUnread ? 0 : 1) ? ` (loaded: ${loaded.join(', ')})` : '';
  return skillUnread ? `  the skill was not loaded${names}` : `  the skill was loaded${names}`;
}

/** The steps of an agent if there are any, else the conversation. */
function stepLines(result: RolloutResult, style: AttemptStyle): string[] {
  const { trajectory } = extrasOf(result);
  if (trajectory?.steps === undefined) return (result.conversation ?? []).flatMap((turn) => turnLines(turn, style));
  const steps = trajectory.steps.filter(({ source }) => source === 'agent');
  const notes = trajectory.notes === undefined ? [] : [style.colors.dim(`  (${trajectory.notes})`)];
  return [...steps.flatMap((step, index) => agentLines(step, index + 1, style)), ...notes];
}

function turnLines(turn: unknown, style: AttemptStyle): string[] {
  const { role = '', content = '' } = (turn ?? {}) as { role?: string; content?: unknown };
  return labelled(role, typeof content === 'string' ? content : JSON.stringify(content), style);
}

function agentLines(step: TrajectoryStep, number: number, style: AttemptStyle): string[] {
  const { message, tool_calls: calls = [], observation, extra = {} } = step;
  const failed = extra.failed_call_ids ?? [];
  const resultLines = (id: string | undefined, label: string) =>
    (observation?.results ?? [])
      .filter((result) => result.source_call_id === id)
      .flatMap(({ content }) => labelled(label, content, style));
  return [
    style.colors.dim(`  step ${number}`),
    ...(extra.skills_loaded ?? []).map((name) => `  loads the skill ${name}`),
    ...(message === '' ? [] : labelled('says', message, style)),
    ...calls.flatMap(({ tool_call_id: id, function_name: name, arguments: input }) => [
      ...labelled(`calls ${name}`, inputText(input), style),
      ...resultLines(id, failed.includes(id) ? 'fails' : 'gets'),
    ]),
    ...resultLines(undefined, 'gets'),
  ];
}

/** A single text needs no name. */
function inputText(input: object): string {
  const values = Object.values(input);
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(input);
}

const MOST_LINES = 8;

function labelled(label: string, text: string, style: AttemptStyle): string[] {
  const isShort = !text.trimEnd().includes('\n') && label.length + text.length + 6 <= style.width;
  if (isShort) return [`  ${label}: ${text.trimEnd()}`];
  return [`  ${label}:`, ...shortened(text, '    ', style, MOST_LINES)];
}

/** The beginning of a text, wrapped; with `isComplete` everything, as it is. */
function shortened(text: string, indent: string, { width, colors, isComplete }: AttemptStyle, most: number): string[] {
  const written = text
    .trimEnd()
    .split('\n')
    .map((line) => indent + line);
  if (isComplete) return written;
  const lines = written.flatMap((line) => wrap(line, width, indent)).map((line) => clip(line, width));
  return atMost(most, lines, (rest) => colors.dim(`${indent}… and ${plural(rest, 'more line')}`));
}

function changeLines(result: RolloutResult, style: AttemptStyle): string[] {
  const { diff } = extrasOf(result);
  if (diff === undefined) return [];
  if (diff.changes.length === 0) return ['  nothing'];
  return [
    ...diff.changes.flatMap(({ path, change, patch, note }) => [
      `  ${change} ${path}${note === undefined ? '' : ` (${note})`}`,
      ...(patch === undefined ? [] : patchLines(patch, style)),
    ]),
    ...diff.leftOut.map((what) => `  not shown: ${what}`),
  ];
}

/** Painted after it is cut: a colour that is cut in two paints what follows. */
function patchLines(patch: string, style: AttemptStyle): string[] {
  const lines = shortened(patch, '', { ...style, width: style.width - 4 }, 3 * MOST_LINES);
  return coloured(lines.join('\n'), style.colors).map((line) => `    ${line}`);
}

function verdictLines(result: RolloutResult, style: AttemptStyle): string[] {
  const { failReason, predictedAnswer, referenceText } = result;
  return [
    `  ${scoreOf(result, 'score ')}`,
    ...(failReason === undefined ? [] : shortened(failReason, '  ', style, MOST_LINES)),
    ...printedLines(result, style),
    ...(predictedAnswer ? labelled('its last words', predictedAnswer, style) : []),
    ...(referenceText ? labelled('expected', referenceText, style) : []),
  ];
}

/** The end of what the verifier printed, which says what failed. */
function printedLines(result: RolloutResult, style: AttemptStyle): string[] {
  const { verifierOutput: text } = extrasOf(result);
  if (text === undefined || (result.failReason ?? '').includes(text)) return [];
  const lines = text.split('\n');
  const shown = style.isComplete ? lines : lines.slice(-MOST_LINES);
  const title = shown.length === lines.length ? 'the verifier printed' : 'the last that the verifier printed';
  return [`  ${title}:`, ...shortened(shown.join('\n'), '    ', style, 2 * MOST_LINES)];
}

const OUTPUT_LINES = 6;

/** What came of one task that an agent tried. */
export type Tried = {
  readonly id: string;
  /** The name of the skill. */
  readonly skill: string | undefined;
  readonly run: AgentRun;
  readonly diff: WorkspaceDiff;
  readonly ms: number;
};

export function liveStepLines(step: AgentStep, { colors, width }: LineStyle): string[] {
  const { bold, cyan, dim, green, red } = colors;
  if (step.type === 'skill-loaded') return [green(`★ the skill ${oneLine(step.name)} was loaded`)];
  if (step.type === 'text') return wrap(printable(step.text.trim()), width, '  ').map((line) => bold(line));
  if (step.type === 'tool-call')
    return [cut(`${cyan('→')} ${oneLine(step.tool)} ${oneLine(shownInput(step.input))}`, width)];
  if (step.output.trim() === '') return [];
  const lines = printable(step.output.trimEnd()).split('\n');
  const shown = lines.map((line) => cut(`  ${line}`, width));
  const paint = step.isError ? red : dim;
  return atMost(OUTPUT_LINES, shown, (rest) => `  … ${plural(rest, 'line')} more`).map((line) => paint(line));
}

/** The command, file or skill, if the input names one. */
function shownInput(input: unknown): string {
  if (typeof input !== 'object' || input === null) return JSON.stringify(input) ?? '';
  const { command, cmd, file_path: file, path, skill, name } = input as Record<string, unknown>;
  const main = command ?? cmd ?? file ?? path ?? skill ?? name;
  return typeof main === 'string' ? main : JSON.stringify(input);
}

const cut = (line: string, width: number) => (line.length <= width + 20 ? line : `${line.slice(0, width + 19)}…`);

/** Whether the skill was loaded, what was changed, and what it cost. */
export function triedLines({ id, skill, run, diff, ms }: Tried, { colors }: LineStyle): string[] {
  const { bold, dim, green, yellow } = colors;
  const isLoaded = skill !== undefined && run.skillsLoaded.includes(skill);
  const offered = run.skillsOffered.find(({ name }) => name === skill);
  return [
    '',
    isLoaded
      ? green(`The skill ${skill} was loaded.`)
      : yellow(`The skill ${skill ?? ''} was not loaded${whyNot(offered)}.`),
    `${bold('changed')}  ${diff.changes.length === 0 ? 'nothing' : plural(diff.changes.length, 'file')}`,
    ...diff.changes.map((change) => `  ${marked(change)}`),
    ...diff.leftOut.map((what) => dim(`  not shown: ${what}`)),
    `${bold('ended')}    ${END_WORDS[run.ended]}${run.endReason === undefined ? '' : ` (${run.endReason})`}`,
    `${bold('cost')}     ${costOf(run)}, ${duration(ms)}`,
    dim(id),
  ];
}

function whyNot(offered: AgentRun['skillsOffered'][number] | undefined): string {
  if (offered === undefined) return ': the model did not know about it';
  if (offered.description === 'none') return ': the model got only its name';
  return offered.description === 'cut' ? ': the model got only a part of its description' : '; the model knew about it';
}

const SIGNS = { added: '+', changed: '~', deleted: '-' } as const;
const marked = ({ change, path, note }: FileChange) =>
  `${SIGNS[change]} ${oneLine(path)}${note === undefined ? '' : ` (${oneLine(note)})`}`;

function costOf({ turns, usage, costUsd }: AgentRun): string {
  const tokens = `${count(usage.input)} tokens in (${count(usage.cached)} cached), ${count(usage.output)} out`;
  return `${plural(turns, 'call')}, ${tokens}, ${costUsd === undefined ? 'dollars unknown' : `$${dollars(costUsd)}`}`;
}
