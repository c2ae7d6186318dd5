import { oneLine, printable } from '../../core/text/printable.ts';
import { changedLines, isOfSeveral } from '../../sleep/night/report-markdown.ts';
import type { DocumentReport, SleepReport } from '../../sleep/night/sleep-report.ts';
import { shownPath } from '../../stores/shown-path.ts';
import { count, plural } from '../terminal/figures.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { clip } from '../terminal/text-width.ts';

type Kept = { readonly folder: string | undefined; readonly isDryRun: boolean };

const MOST_RECURRING = 5;
const MOST_TASKS = 12;

/** The report of a night, to be read in a minute: what recurred, the change, what got better and worse, what it cost. */
export function nightLines(report: SleepReport, { folder, isDryRun }: Kept, terminal: Terminal): string[] {
  const { colors } = terminal;
  return [
    colors.bold(`night ${report.night}`),
    ...dayLines(report),
    '',
    ...report.documents.flatMap((document) => [
      ...documentLines(document, terminal),
      ...(isOfSeveral(report) ? [colors.dim(`  ${detailsOf(document)}`)] : []),
      '',
    ]),
    ...untrainedLines(report),
    ...taskLines(report, terminal),
    ...quarantineLines(report, terminal),
    ...(report.noEditsReason === '' ? [] : [`Nothing is proposed. ${report.noEditsReason}`]),
    ...(report.needs === '' ? [] : [report.needs]),
    ...report.notes.map((note) => colors.dim(oneLine(note))),
    costLine(report),
    ...(folder === undefined ? [] : [colors.dim(`the whole report: ${shownPath(folder)}/report.md`)]),
    ...nextLines(report, isDryRun, terminal),
  ];
}

function dayLines({ nSessions, nTasks, pooled, notReplayable, recurring }: SleepReport): string[] {
  const more = pooled > 0 ? `, and ${pooled} of earlier nights to measure with` : '';
  return [
    `${plural(nSessions, 'session')}, ${plural(nTasks, 'task')}${more}`,
    ...(notReplayable > 0 ? [`${plural(notReplayable, 'task')} need files or tools: not replayable yet`] : []),
    ...recurring
      .slice(0, MOST_RECURRING)
      .map(
        ({ intent, sessions, days }) =>
          `asked ${sessions} times on ${plural(days, 'day')}: ${oneLine(intent).slice(0, 80)}`,
      ),
  ];
}

const points = (share: number) => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;

function documentLines(
  { name, path, isStaged, before, after, gain, test }: DocumentReport,
  { colors }: Terminal,
): string[] {
  if (before === after) return [`${oneLine(name)}: no change`];
  const measured = gain
    ? `${points(gain.value)} points on held-out tasks (${points(gain.low)} to ${points(gain.high)})`
    : 'not measured';
  const sealed = test
    ? [
        `sealed test, ${plural(test.tasks, 'task')}: ${(100 * test.before).toFixed(1)} before, ${(100 * test.after).toFixed(1)} after`,
      ]
    : [];
  const paint = { '+': colors.green, '-': colors.red, ' ': colors.dim } as const;
  const diff = changedLines(before, after).map((line) => `  ${paint[line[0] as '+' | '-' | ' '](printable(line))}`);
  return [
    `${colors.bold(oneLine(name))}${isStaged ? ', proposed' : ''}: ${measured}`,
    `  ${oneLine(path)}`,
    ...sealed,
    ...diff,
  ];
}

const detailsOf = ({ verdict, calls, tokensUsed }: DocumentReport) =>
  `${verdict} ${count(calls)} calls, ${count(tokensUsed)} tokens`;

function untrainedLines({ untrained }: SleepReport): string[] {
  const lines = untrained.map(({ name, why }) => `${oneLine(name)}: not trained; ${oneLine(why)}`);
  return lines.length > 0 ? [...lines, ''] : [];
}

function taskLines({ gateTrials, intents }: SleepReport, { colors, width }: Terminal): string[] {
  const moved = gateTrials.flatMap(({ taskDeltas }) => taskDeltas).filter(({ status }) => status !== 'unchanged');
  if (moved.length === 0) return [];
  const sorted = moved.sort((one, other) => one.after - one.before - (other.after - other.before));
  const line = ({ id, before, after, status }: (typeof moved)[number]) =>
    `  ${(status === 'improved' ? colors.green : colors.red)(status.padEnd(9))} ${(100 * before).toFixed(0)} → ${(100 * after).toFixed(0)}  ${clip(oneLine(intents[id] ?? id), Math.max(20, width - 26))}`;
  const more = sorted.length - MOST_TASKS;
  return [
    'task by task:',
    ...sorted.slice(0, MOST_TASKS).map(line),
    ...(more > 0 ? [colors.dim(`  and ${more} more`)] : []),
    '',
  ];
}

function quarantineLines({ quarantined }: SleepReport, { colors }: Terminal): string[] {
  if (quarantined.length === 0) return [];
  const lines = quarantined.map(
    ({ content, reason }) => `  ${oneLine(reason)}: ${colors.dim(JSON.stringify(oneLine(content).slice(0, 100)))}`,
  );
  return [colors.yellow(`${plural(quarantined.length, 'edit')} quarantined:`), ...lines, ''];
}

function costLine({ calls, tokensUsed, startedAt, endedAt }: SleepReport): string {
  const seconds = (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
  const time = seconds < 90 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(0)} min`;
  return `cost: ${count(calls)} calls, ${count(tokensUsed)} tokens, ${time}`;
}

function nextLines({ documents, night }: SleepReport, isDryRun: boolean, { colors }: Terminal): string[] {
  const staged = documents.filter(({ isStaged }) => isStaged).length;
  if (staged === 0) return isDryRun ? [colors.dim('a dry run: nothing is kept')] : [];
  const all = staged > 1 ? ` --night ${night}` : '';
  const what =
    staged > 1 ? 'put them into the live documents; without --night it lists them' : 'put it into the live document';
  return [
    '',
    `next:  ${colors.bold(`skillopt sleep adopt${all}`)}   ${what}; ${colors.bold('skillopt sleep review')} goes through it`,
  ];
}
