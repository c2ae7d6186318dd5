import type { MarkedLine } from '../../core/guard/index.ts';
import { count, oneLine, percent, plural, points, printable } from '../../core/text/index.ts';
import { changedLines } from '../changes.ts';
import { atMost, clip, type LineStyle, nextLines, padEnd, type TextStyle, wrap } from '../layout.ts';
import {
  type DocumentReport,
  gainText,
  isOfSeveral,
  leftOutLines,
  type SleepReport,
  spentWords,
} from './sleep-report.ts';

export type NextCommand = readonly [command: string, why: string];

type NightContext = {
  /** The folder of the night, as it is shown. */
  readonly folder: string | undefined;
  readonly isDryRun: boolean;
  /** What to type next. */
  readonly commands: readonly NextCommand[];
};

const MOST_RECURRING = 5;
const MOST_TASKS = 12;

/** The report of a night: what recurred, the change, what got better and worse, what it cost. */
export function nightLines(report: SleepReport, { folder, isDryRun, commands }: NightContext, style: TextStyle) {
  const { colors, width } = style;
  return [
    colors.bold(`night ${report.night}`),
    ...dayLines(report, style),
    '',
    ...nothingLines(report, style),
    ...report.documents.flatMap((document) => [
      ...documentLines(document, style),
      ...(isOfSeveral(report) ? wrap(detailsOf(document), width - 2).map((line) => colors.dim(`  ${line}`)) : []),
      '',
    ]),
    ...untrainedLines(report, style),
    ...taskLines(report, style),
    ...quarantineLines(report, style),
    ...report.notes.flatMap((note) => wrap(oneLine(note), width).map(colors.dim)),
    costLine(report),
    ...(folder === undefined ? [] : [colors.dim(`the whole report: ${folder}/report.md`)]),
    ...(isDryRun ? [colors.dim('a dry run: nothing is kept')] : []),
    ...(commands.length > 0 ? ['', ...nextLines(commands, style)] : []),
  ];
}

function nothingLines({ noEditsReason, needs }: SleepReport, { width, colors }: TextStyle): string[] {
  if (noEditsReason === '') return [];
  const [verdict, ...why] = wrap(`Nothing is proposed. ${oneLine(noEditsReason)}`, width);
  return [colors.bold(verdict!), ...why, ...(needs === '' ? [] : wrap(oneLine(needs), width)), ''];
}

function dayLines(report: SleepReport, { width }: TextStyle): string[] {
  const { nSessions, nTasks, pooled, recurring } = report;
  const more = pooled > 0 ? `, and ${pooled} of earlier nights to measure with` : '';
  return [
    `${plural(nSessions, 'session')}, ${plural(nTasks, 'task')}${more}`,
    ...leftOutLines(report).flatMap((line) => wrap(line, width)),
    ...recurring
      .slice(0, MOST_RECURRING)
      .map(({ intent, sessions, days }) =>
        clip(`asked ${sessions} times on ${plural(days, 'day')}: ${oneLine(intent)}`, width),
      ),
  ];
}

function documentLines(document: DocumentReport, style: TextStyle): string[] {
  const { colors, width } = style;
  const { name, path, isStaged, before, after, gain, test } = document;
  if (before === after) return [`${oneLine(name)}: no change`];
  const score = (share: number) => (100 * share).toFixed(1);
  const sealed = test
    ? [`  sealed test, ${plural(test.tasks, 'task')}: ${score(test.before)} before, ${score(test.after)} after`]
    : [];
  const paint = { '+': colors.green, '-': colors.red, ' ': colors.dim } as const;
  return [
    `${colors.bold(oneLine(name))}${isStaged ? ', proposed' : ''}: ${gainText(gain) ?? 'not measured'}`,
    `  ${oneLine(path)}`,
    ...sealed,
    ...changedLines(before, after).flatMap((line) =>
      wrap(`  ${printable(line)}`, width, '     ').map(paint[line[0] as '+' | '-' | ' ']),
    ),
    ...markedLines(document, style),
  ];
}

/** A marked line and, below it, why a person should look at it. */
export const markLines = ({ line, reasons, isStriking }: MarkedLine, { colors, width }: LineStyle): string[] => [
  ...wrap(`  + ${oneLine(line.replace(/^[-*+] /, ''))}`, width, '    '),
  ...wrap(`    ! ${reasons.map(oneLine).join(', ')}`, width, '      ').map(isStriking ? colors.yellow : colors.dim),
];

function markedLines({ marked = [] }: DocumentReport, style: TextStyle): string[] {
  if (marked.length === 0) return [];
  return [style.colors.dim(`  ${MARKED}:`), ...marked.flatMap((one) => markLines(one, style))];
}

const MARKED = 'What is new, and why to look at it';

const detailsOf = ({ verdict, calls, tokensUsed }: DocumentReport) =>
  `${verdict} ${count(calls)} calls, ${count(tokensUsed)} tokens`;

function untrainedLines({ untrained }: SleepReport, { width }: TextStyle): string[] {
  const lines = untrained.flatMap(({ name, why }) => wrap(`${oneLine(name)}: not trained; ${oneLine(why)}`, width));
  return lines.length > 0 ? [...lines, ''] : [];
}

function taskLines({ gateTrials, intents }: SleepReport, { colors, width }: TextStyle): string[] {
  const proposed = gateTrials.filter(({ accepted }) => accepted); // what was rejected beside it would blur the picture
  const measured = (proposed.length > 0 ? proposed : gateTrials).flatMap(({ taskDeltas }) => taskDeltas);
  const moved = measured.filter(({ status }) => status !== 'unchanged');
  if (moved.length === 0) return [];
  const sorted = moved.sort((one, other) => one.after - one.before - (other.after - other.before));
  const score = (share: number) => (100 * share).toFixed(0).padStart(3);
  const line = ({ id, before, after, status }: (typeof moved)[number]) => {
    const paint = status === 'improved' ? colors.green : colors.red;
    const task = clip(oneLine(intents[id] ?? id), Math.max(20, width - 24));
    return `  ${paint(status.padEnd(9))} ${score(before)} → ${score(after)}  ${task}`;
  };
  const worse = moved.filter(({ status }) => status === 'regressed').length;
  return [
    `task by task: ${moved.length - worse} better, ${worse} worse, ${measured.length - moved.length} the same`,
    ...atMost(MOST_TASKS, sorted.map(line), (rest) => colors.dim(`  and ${rest} more`)),
    '',
  ];
}

function quarantineLines({ quarantined }: SleepReport, { colors, width }: TextStyle): string[] {
  if (quarantined.length === 0) return [];
  const lines = quarantined.flatMap(({ content, reason }) => [
    clip(`  ${oneLine(reason)}:`, width),
    colors.dim(clip(`    ${JSON.stringify(oneLine(content))}`, width)),
  ]);
  const them = quarantined.length === 1 ? 'it' : 'them';
  const title = `${plural(quarantined.length, 'edit')} quarantined, and nothing of ${them} proposed:`;
  return [colors.yellow(title), ...lines, ''];
}

function costLine({ startedAt, endedAt, ...cost }: SleepReport): string {
  const seconds = (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
  const time = seconds < 90 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(0)} min`;
  return `cost: ${spentWords(cost)}, ${time}`;
}

/** A line that a document gained, lost, or did not get. */
export type StoryLine = { readonly text: string; readonly why?: string };

/** What a night came to. */
export type NightStory = {
  /** Counts from 1. */
  readonly night: number;
  readonly sessions: number;
  readonly tasks: number;
  /** Of all models. */
  readonly calls: number;
  readonly learned: readonly StoryLine[];
  readonly forgotten: readonly StoryLine[];
  readonly rejected: readonly StoryLine[];
  readonly quarantined: readonly StoryLine[];
  /** Why nothing was proposed, and what it would take; empty when something was. */
  readonly whyNothing?: string;
  /** What a poisoned transcript of the day tried, and what became of it. */
  readonly poison?: { readonly name: string; readonly text: string; readonly fate: PoisonFate };
  /** On days that nobody has seen, with the documents of the next morning. */
  readonly score: number;
};

/** `unnoticed`: nobody made a rule of it. */
export type PoisonFate = 'unnoticed' | 'quarantined' | 'rejected' | 'staged';

export type WeekStory = {
  /** On unseen days, before the first night. */
  readonly start: number;
  /** With everything that the person wants. */
  readonly best: number;
  /** How many things that is. */
  readonly things: number;
  readonly nights: readonly NightStory[];
};

/** A week as a person reads it: night by night, and what it was worth. */
export function weekLines(week: WeekStory, style: LineStyle): string[] {
  const before = (at: number) => week.nights[at - 1]?.score ?? week.start;
  const nights = week.nights.flatMap((night, at) => [...storyLines(night, before(at), style), '']);
  return [...nights, ...endLines(week, style)];
}

/** More of them say nothing new: nearly every night tries several in vain. */
const MOST_REJECTED = 3;

/** `before`: the score on unseen days in the evening. */
function storyLines(night: NightStory, before: number, { width, colors }: LineStyle): string[] {
  const { bold, dim, green, yellow } = colors;
  const counts = [plural(night.sessions, 'session'), plural(night.tasks, 'task'), plural(night.calls, 'call')];
  const gain = night.score - before;
  const stories = (label: string, lines: readonly StoryLine[], paint: (text: string) => string) =>
    lines.map(({ text, why }, at) => {
      const story = `${SIGNS[label]} ${oneLine(text)}${why === undefined ? '' : ` (${oneLine(why)})`}`;
      return labelled(at === 0 ? label : '', paint(clip(story, textSpace(width))));
    });
  return [
    `${bold(`night ${night.night}`)}  ${dim(clip(counts.join(', '), width - HEAD_WIDTH))}`,
    ...stories('learned', night.learned, green),
    ...stories('forgotten', night.forgotten, String),
    ...noProposalLines(night, width),
    ...atMost(MOST_REJECTED, stories('rejected', night.rejected, dim), (rest) =>
      labelled('', dim(`  and ${rest} more`)),
    ),
    ...stories('quarantined', night.quarantined, yellow),
    ...poisonLines(night, { width, colors }),
    labelled('unseen days', `${percent(night.score)}${gain === 0 ? '' : ` (${points(gain)})`}`),
  ];
}

const SIGNS: Readonly<Record<string, string>> = { learned: '+', forgotten: '-', rejected: '·', quarantined: '!' };

/** Whole, because it says what to do. */
const noProposalLines = ({ whyNothing = '' }: NightStory, width: number) =>
  whyNothing === ''
    ? []
    : wrap(oneLine(whyNothing), textSpace(width)).map((line, at) => labelled(at === 0 ? 'no proposal' : '', line));

const LABEL_WIDTH = 13;
/** `night 60` and two spaces. */
const HEAD_WIDTH = 10;
/** What a label leaves of a line. */
const textSpace = (width: number) => width - LABEL_WIDTH - 2;
const labelled = (label: string, text: string) => `  ${padEnd(label, LABEL_WIDTH)}${text}`;

const FATES: Readonly<Record<PoisonFate, string>> = {
  unnoticed: 'nobody made a rule of it',
  quarantined: 'quarantined',
  rejected: 'proposed and rejected',
  staged: 'STAGED, which must not happen',
};

function poisonLines({ poison }: NightStory, { width, colors }: LineStyle): string[] {
  if (!poison) return [];
  const tried = clip(`a pasted text ${oneLine(poison.name)}: ${oneLine(poison.text)}`, textSpace(width));
  const fate = clip(FATES[poison.fate], textSpace(width));
  return [labelled('poison', colors.yellow(tried)), labelled('', poison.fate === 'staged' ? colors.red(fate) : fate)];
}

function endLines({ start, best, things, nights }: WeekStory, { width, colors }: LineStyle): string[] {
  const end = nights.at(-1)?.score ?? start;
  const poisons = nights.flatMap(({ poison }) => poison ?? []);
  const staged = poisons.filter(({ fate }) => fate === 'staged').length;
  const learned = nights.reduce((sum, night) => sum + night.learned.length - night.forgotten.length, 0);
  const scores = `${percent(start)} before, ${percent(end)} now, ${percent(best)} with all ${plural(things, 'rule')}`;
  return [
    colors.bold(`after ${plural(nights.length, 'night')}`),
    labelled('learned', clip(plural(learned, 'line'), textSpace(width))),
    labelled('poison', clip(`${poisons.length} tried, ${staged} staged`, textSpace(width))),
    labelled('unseen days', clip(scores, textSpace(width))),
  ];
}
