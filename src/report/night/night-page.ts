import { inMarkdown, nameAsData, oneLine } from '../../core/text/index.ts';
import { changedLines } from '../changes.ts';
import { nightCommandOf } from './proposal-commands.ts';
import {
  type DocumentReport,
  isOfSeveral,
  notReplayableText,
  type SleepReport,
  withToolsText,
} from './sleep-report.ts';

/** The report as a page that reads in a minute. Every text of sessions and models is data in it. */
export function reportMarkdown(report: SleepReport): string {
  const sections = [
    [`# Night ${report.night}`, '', verdictOf(report)],
    ...(report.recurring.length > 0 ? [['## What recurred', '', ...recurringLines(report)]] : []),
    ...report.documents.map((document) => documentSection(document, isOfSeveral(report))),
    ...untrainedSection(report),
    ...tasksSection(report),
    ...quarantineSection(report),
    ['## What it cost', '', costLine(report)],
    ...(report.notes.length > 0 ? [['## Notes', '', ...report.notes.map((note) => `- ${text(note)}`)]] : []),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** On one line, as text: nothing in it can be a heading, a link to an image, or a tag. */
const text = (words: string) => inMarkdown(oneLine(words));
const points = (share: number) => `${share >= 0 ? '+' : '−'}${Math.abs(100 * share).toFixed(1)}`;
const percent = (share: number | null) => (share === null || !Number.isFinite(share) ? '–' : (100 * share).toFixed(1));

function verdictOf(report: SleepReport): string {
  const { documents, nSessions, nTasks, pooled, notReplayable, withTools, noEditsReason, needs } = report;
  const staged = documents.filter(({ isStaged }) => isStaged);
  const what = `${nSessions} sessions, ${nTasks} tasks${pooled > 0 ? `, ${pooled} more to measure with` : ''}.`;
  const said = [withToolsText(withTools), notReplayableText(notReplayable)].filter((line) => line !== '');
  const left = said.map((line) => ` ${text(line)}.`).join('');
  if (staged.length === 0) return `Nothing is proposed. ${text(noEditsReason)} ${needs}\n\n${what}${left}`;
  const gains = staged.map(({ name, gain }) => `${nameAsData(name)}${gain ? ` ${points(gain.value)} points` : ''}`);
  return `Proposed: ${gains.join(', ')}. Adopt ${staged.length > 1 ? 'them' : 'it'} with \`${nightCommandOf(report.night, 'adopt')}\`.\n\n${what}${left}`;
}

const recurringLines = ({ recurring }: SleepReport) =>
  recurring.slice(0, 8).map(({ intent, sessions, days }) => `- ${sessions} times on ${days} days: ${text(intent)}`);

function documentSection(document: DocumentReport, isDetailed: boolean): string[] {
  const { name, path, isStaged, before, after, gain, test } = document;
  const title = `## ${nameAsData(name)}, ${isStaged ? 'proposed' : 'unchanged'}`;
  const where = `In ${nameAsData(path)}.`;
  const measured = gain
    ? `${points(gain.value)} points on held-out tasks (${points(gain.low)} to ${points(gain.high)}).`
    : 'Not measured.';
  const sealed = test
    ? ` On ${test.tasks} sealed tasks: ${percent(test.before)} before, ${percent(test.after)} after.`
    : '';
  const said = isDetailed ? ` ${text(document.verdict)} ${document.calls} calls, ${document.tokensUsed} tokens.` : '';
  if (!isStaged) return [title, '', `${where}${sealed}${said}`];
  const diff = changedLines(before, after).map(safeLine);
  return [title, '', `${where} ${measured}${sealed}${said}`, '', '```diff', ...diff, '```'];
}

function untrainedSection({ untrained }: SleepReport): string[][] {
  if (untrained.length === 0) return [];
  return [['## Not trained', '', ...untrained.map(({ name, why }) => `- ${nameAsData(name)}: ${text(why)}`)]];
}

/** Inside a fence: nothing in a line may end it. */
const safeLine = (line: string) => inMarkdown(line).replace(/`{3,}|~{3,}/g, "'''");

function tasksSection({ gateTrials, intents }: SleepReport): string[][] {
  const rows = gateTrials.flatMap(({ target, named, taskDeltas }) =>
    taskDeltas.map(({ id, before, after, status }) => {
      const document = named === '' ? target : nameAsData(named);
      return `| ${document} | ${nameAsData(intents[id] ?? id)} | ${percent(before)} | ${percent(after)} | ${status} |`;
    }),
  );
  if (rows.length === 0) return [];
  return [['## Task by task', '', '| document | held-out task | before | after | |', '|---|---|---|---|---|', ...rows]];
}

function quarantineSection({ quarantined }: SleepReport): string[][] {
  if (quarantined.length === 0) return [];
  const lines = quarantined.map(({ content, reason }) => `- ${text(reason)}: ${nameAsData(content)}`);
  return [
    ['## Quarantined', '', 'Refused because of what they say or hide; nothing of them is proposed.', '', ...lines],
  ];
}

const costLine = ({ calls, tokensUsed, startedAt, endedAt }: SleepReport) => {
  const minutes = (Date.parse(endedAt) - Date.parse(startedAt)) / 60_000;
  return `${calls} calls, ${tokensUsed} tokens, ${minutes.toFixed(1)} minutes.`;
};
