import { count, oneLine, plural, printable } from '../../core/text/index.ts';
import { changedLines } from '../changes.ts';
import { clip, nextLines, type TextStyle, wrap } from '../layout.ts';
import { type DocumentReport, gainText, isOfSeveral, leftOutLines, type SleepReport } from './sleep-report.ts';

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
export function nightLines(
  report: SleepReport,
  { folder, isDryRun, commands }: NightContext,
  style: TextStyle,
): string[] {
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

function documentLines(
  { name, path, isStaged, before, after, gain, test }: DocumentReport,
  { colors, width }: TextStyle,
): string[] {
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
  ];
}

const detailsOf = ({ verdict, calls, tokensUsed }: DocumentReport) =>
  `${verdict} ${count(calls)} calls, ${count(tokensUsed)} tokens`;

function untrainedLines({ untrained }: SleepReport, { width }: TextStyle): string[] {
  const lines = untrained.flatMap(({ name, why }) => wrap(`${oneLine(name)}: not trained; ${oneLine(why)}`, width));
  return lines.length > 0 ? [...lines, ''] : [];
}

function taskLines({ gateTrials, intents }: SleepReport, { colors, width }: TextStyle): string[] {
  const measured = gateTrials.flatMap(({ taskDeltas }) => taskDeltas);
  const moved = measured.filter(({ status }) => status !== 'unchanged');
  if (moved.length === 0) return [];
  const sorted = moved.sort((one, other) => one.after - one.before - (other.after - other.before));
  const score = (share: number) => (100 * share).toFixed(0).padStart(3);
  const line = ({ id, before, after, status }: (typeof moved)[number]) => {
    const paint = status === 'improved' ? colors.green : colors.red;
    const task = clip(oneLine(intents[id] ?? id), Math.max(20, width - 24));
    return `  ${paint(status.padEnd(9))} ${score(before)} → ${score(after)}  ${task}`;
  };
  const more = sorted.length - MOST_TASKS;
  const worse = moved.filter(({ status }) => status === 'regressed').length;
  return [
    `task by task: ${moved.length - worse} better, ${worse} worse, ${measured.length - moved.length} the same`,
    ...sorted.slice(0, MOST_TASKS).map(line),
    ...(more > 0 ? [colors.dim(`  and ${more} more`)] : []),
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

function costLine({ calls, tokensUsed, startedAt, endedAt }: SleepReport): string {
  const seconds = (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
  const time = seconds < 90 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(0)} min`;
  return `cost: ${count(calls)} calls, ${count(tokensUsed)} tokens, ${time}`;
}
