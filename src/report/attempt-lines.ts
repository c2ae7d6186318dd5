import {
  type AgentEnd,
  type AgentRun,
  type AgentStep,
  END_WORDS,
  type FileChange,
  type RolloutResult,
  type TrajectoryStep,
  type WorkspaceDiff,
} from '../core/contracts/index.ts';
import { count, dollars, head, oneLine, plural, printable } from '../core/text/index.ts';
import { coloured } from './changes.ts';
import { type Colors, clip, clipWords, duration, noColors, padEnd, wrap } from './layout.ts';

/** One attempt at a task, and in which part of a run it was made. */
export type TaskAttempt = { readonly part: string; readonly step?: number; readonly result: RolloutResult };

type Look = { readonly width: number; readonly colors: Colors; readonly isComplete: boolean };

/** All attempts at a task in a line each, and the last one step by step. */
export function attemptLines(task: string, attempts: readonly TaskAttempt[], look: Look): string[] {
  const { bold } = look.colors;
  const { part, result } = attempts.at(-1)!;
  const question = result.question ?? result.taskDescription ?? '';
  return [
    bold(`task ${task}`),
    ...shortened(question, '  ', look, 6),
    '',
    ...listLines(attempts, look),
    '',
    bold(`last attempt: ${part}`),
    ...factLines(result),
    ...section('what it did', stepLines(result, look), look),
    ...section('what it changed', changeLines(result, look), look),
    ...section('the verdict', verdictLines(result, look), look),
  ];
}

/** An attempt from its first step to its verdict, whole and without colours, so that two can be compared. */
export function attemptText(result: RolloutResult): string {
  const look = { width: Number.POSITIVE_INFINITY, colors: noColors, isComplete: true };
  const parts = [factLines(result), stepLines(result, look), changeLines(result, look), verdictLines(result, look)];
  return `${parts.flat().join('\n')}\n`;
}

export function listLines(attempts: readonly TaskAttempt[], { width }: Pick<Look, 'width'>): string[] {
  const widest = Math.max(...attempts.map(({ part }) => part.length));
  return attempts.map(({ part, result }) => {
    const notes = [...(result.skillUnread ? ['skill not loaded'] : []), inOneLine(result.failReason ?? '')];
    return clipWords(
      `  ${padEnd(part, widest)}  ${padEnd(scoreOf(result), 13)}  ${notes.filter(Boolean).join('; ')}`,
      width,
    ).trimEnd();
  });
}

const scoreOf = ({ errored, hard, soft }: RolloutResult) =>
  errored ? 'no score' : `${hard === 1 ? 'passed' : 'failed'} (${soft.toFixed(2)})`;

const section = (title: string, lines: readonly string[], { colors }: Look) =>
  lines.length === 0 ? [] : ['', colors.bold(title), ...lines];

/** Whether the skill was loaded, and what the attempt took. */
function factLines(result: RolloutResult): string[] {
  const { skillsLoaded, ended, costUsd } = (result.extras ?? {}) as {
    skillsLoaded?: readonly string[];
    ended?: string;
    costUsd?: number;
  };
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

/** Steps of an agent where there are any, else the conversation. */
function stepLines({ extras, conversation = [] }: RolloutResult, look: Look): string[] {
  const { trajectory } = (extras ?? {}) as { trajectory?: { steps?: readonly TrajectoryStep[]; notes?: string } };
  if (trajectory?.steps === undefined) return conversation.flatMap((turn) => turnLines(turn, look));
  const steps = trajectory.steps.filter(({ source }) => source === 'agent');
  const notes = trajectory.notes === undefined ? [] : [look.colors.dim(`  (${trajectory.notes})`)];
  return [...steps.flatMap((step, index) => agentLines(step, index + 1, look)), ...notes];
}

function turnLines(turn: unknown, look: Look): string[] {
  const { role = '', content = '' } = (turn ?? {}) as { role?: string; content?: unknown };
  return labelled(role, typeof content === 'string' ? content : JSON.stringify(content), look);
}

function agentLines(step: TrajectoryStep, number: number, look: Look): string[] {
  const { message, tool_calls: calls = [], observation, extra = {} } = step;
  const failed = extra.failed_call_ids ?? [];
  const results = observation?.results ?? [];
  const resultsOf = (id: string) => results.filter((result) => result.source_call_id === id);
  return [
    look.colors.dim(`  step ${number}`),
    ...(extra.skills_loaded ?? []).map((name) => `  loads the skill ${name}`),
    ...(message === '' ? [] : labelled('says', message, look)),
    ...calls.flatMap(({ tool_call_id: id, function_name: name, arguments: input }) => [
      ...labelled(`calls ${name}`, inputText(input), look),
      ...resultsOf(id).flatMap(({ content }) => labelled(failed.includes(id) ? 'fails' : 'gets', content, look)),
    ]),
    ...results
      .filter(({ source_call_id: id }) => id === undefined)
      .flatMap(({ content }) => labelled('gets', content, look)),
  ];
}

/** One value speaks for itself. */
function inputText(input: object): string {
  const values = Object.values(input);
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(input);
}

const MOST_LINES = 8;

function labelled(label: string, text: string, look: Look): string[] {
  const isShort = !text.trimEnd().includes('\n') && label.length + text.length + 6 <= look.width;
  if (isShort) return [`  ${label}: ${text.trimEnd()}`];
  return [`  ${label}:`, ...shortened(text, '    ', look, MOST_LINES)];
}

/** The beginning of a text, in columns; with `--all` everything, as it is. */
function shortened(text: string, indent: string, { width, colors, isComplete }: Look, most: number): string[] {
  const written = text
    .trimEnd()
    .split('\n')
    .map((line) => indent + line);
  const lines = isComplete ? written : written.flatMap((line) => wrap(line, width, indent));
  const shown = isComplete ? lines : lines.slice(0, most);
  const rest = lines.length - shown.length;
  return [
    ...shown.map((line) => (isComplete ? line : clip(line, width))),
    ...(rest > 0 ? [colors.dim(`${indent}… and ${plural(rest, 'more line')}`)] : []),
  ];
}

function changeLines({ extras }: RolloutResult, look: Look): string[] {
  const { diff } = (extras ?? {}) as { diff?: WorkspaceDiff };
  if (diff === undefined) return [];
  if (diff.changes.length === 0) return ['  nothing'];
  return [
    ...diff.changes.flatMap(({ path, change, patch, note }) => [
      `  ${change} ${path}${note === undefined ? '' : ` (${note})`}`,
      ...(patch === undefined ? [] : patchLines(patch, look)),
    ]),
    ...diff.leftOut.map((what) => `  not shown: ${what}`),
  ];
}

/** Painted after it is cut: a colour that is cut in two paints what follows. */
function patchLines(patch: string, look: Look): string[] {
  const lines = shortened(patch, '', { ...look, width: look.width - 4, colors: look.colors }, 3 * MOST_LINES);
  return coloured(lines.join('\n'), look.colors).map((line) => `    ${line}`);
}

function verdictLines(result: RolloutResult, look: Look): string[] {
  const { errored, hard, soft, failReason, predictedAnswer, referenceText } = result;
  const score = errored ? 'no score' : `${hard === 1 ? 'passed' : 'failed'} (score ${soft.toFixed(2)})`;
  return [
    `  ${score}`,
    ...(failReason === undefined ? [] : shortened(failReason, '  ', look, MOST_LINES)),
    ...printedLines(result, look),
    ...(predictedAnswer ? labelled('its last words', predictedAnswer, look) : []),
    ...(referenceText ? labelled('expected', referenceText, look) : []),
  ];
}

/** The end of what the verifier printed: that is where it says what failed. */
function printedLines({ extras, failReason = '' }: RolloutResult, look: Look): string[] {
  const { verifierOutput: text } = (extras ?? {}) as { verifierOutput?: string };
  if (text === undefined || failReason.includes(text)) return [];
  const lines = text.split('\n');
  const shown = look.isComplete ? lines : lines.slice(-MOST_LINES);
  const title = shown.length === lines.length ? 'the verifier printed' : 'the last that the verifier printed';
  return [`  ${title}:`, ...shortened(shown.join('\n'), '    ', look, 2 * MOST_LINES)];
}

const inOneLine = (text: string) => head(text.replace(/\s+/g, ' '), 300);

const OUTPUT_LINES = 6;

/** One piece of work of an agent that was tried. */
export type Tried = {
  readonly id: string;
  /** The name of the skill. */
  readonly skill: string | undefined;
  readonly run: AgentRun;
  readonly diff: WorkspaceDiff;
  readonly ms: number;
};

type LiveLook = { readonly colors: Colors; readonly width: number };

/** One step of an agent as a person follows it. */
export function liveStepLines(step: AgentStep, { colors, width }: LiveLook): string[] {
  const { bold, cyan, dim, green, red } = colors;
  if (step.type === 'skill-loaded') return [green(`★ the skill ${oneLine(step.name)} was loaded`)];
  if (step.type === 'text') return wrap(printable(step.text.trim()), width, '  ').map((line) => bold(line));
  if (step.type === 'tool-call')
    return [cut(`${cyan('→')} ${oneLine(step.tool)} ${oneLine(shownInput(step.input))}`, width)];
  const lines = printable(step.output.trimEnd()).split('\n');
  const shown = lines.slice(0, OUTPUT_LINES).map((line) => cut(`  ${line}`, width));
  const more = lines.length > OUTPUT_LINES ? [`  … ${plural(lines.length - OUTPUT_LINES, 'line')} more`] : [];
  const paint = step.isError ? red : dim;
  return step.output.trim() === '' ? [] : [...shown, ...more].map((line) => paint(line));
}

/** What was run or touched, where the input says it. */
function shownInput(input: unknown): string {
  if (typeof input !== 'object' || input === null) return JSON.stringify(input) ?? '';
  const { command, cmd, file_path: file, path, skill, name } = input as Record<string, unknown>;
  const main = command ?? cmd ?? file ?? path ?? skill ?? name;
  return typeof main === 'string' ? main : JSON.stringify(input);
}

const cut = (line: string, width: number) => (line.length <= width + 20 ? line : `${line.slice(0, width + 19)}…`);

/** What came of it: was the skill loaded, what was changed, what did it cost. */
export function triedLines({ id, skill, run, diff, ms }: Tried, { colors }: LiveLook): string[] {
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
  if (offered === undefined) return ': the model was not told of it';
  if (offered.description === 'none') return ': the model was told its name alone';
  return offered.description === 'cut'
    ? ': of its description the model was told a part'
    : '; the model was told of it';
}

const SIGNS = { added: '+', changed: '~', deleted: '-' } as const;
const marked = ({ change, path, note }: FileChange) =>
  `${SIGNS[change]} ${oneLine(path)}${note === undefined ? '' : ` (${oneLine(note)})`}`;

function costOf({ turns, usage, costUsd }: AgentRun): string {
  const tokens = `${count(usage.input)} tokens in (${count(usage.cached)} cached), ${count(usage.output)} out`;
  return `${plural(turns, 'call')}, ${tokens}, ${costUsd === undefined ? 'dollars unknown' : `$${dollars(costUsd)}`}`;
}
