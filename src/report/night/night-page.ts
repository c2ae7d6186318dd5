import { inMarkdown, nameAsData, oneLine } from '../../core/text/index.ts';
import { changedLines } from '../changes.ts';
import { markdownPage, safeLine } from '../markdown.ts';
import {
  type DocumentReport,
  gainText,
  isOfSeveral,
  leftOutLines,
  nightCommandOf,
  type SleepReport,
  signed,
  spentWords,
} from './sleep-report.ts';

/** The report of a night as a page. Every text of sessions and models is data in it. */
export function reportMarkdown(report: SleepReport): string {
  const section = (title: string, lines: readonly string[], ...lead: string[]) =>
    lines.length === 0 ? [] : [`## ${title}`, '', ...lead, ...lines];
  const quarantined = report.quarantined.map(({ content, reason }) => `- ${text(reason)}: ${nameAsData(content)}`);
  const untrained = report.untrained.map(({ name, why }) => `- ${nameAsData(name)}: ${text(why)}`);
  const notes = report.notes.map((note) => `- ${text(note)}`);
  return markdownPage([
    [`# Night ${report.night}`, '', verdictOf(report)],
    section('What recurred', recurringLines(report)),
    ...report.documents.map((document) => documentSection(document, isOfSeveral(report))),
    section('Not trained', untrained),
    section(
      'Task by task',
      taskRows(report),
      '| document | held-out task | before | after | |',
      '|---|---|---|---|---|',
    ),
    section('Quarantined', quarantined, 'Refused because of what they say or hide; nothing of them is proposed.', ''),
    section('What it cost', [costLine(report)]),
    section('Notes', notes),
  ]);
}

/** On one line, as text: nothing in it can be a heading, a link to an image, or a tag. */
const text = (words: string) => inMarkdown(oneLine(words));
const percent = (share: number | null) => (share === null || !Number.isFinite(share) ? '–' : (100 * share).toFixed(1));

function verdictOf(report: SleepReport): string {
  const { documents, nSessions, nTasks, pooled, noEditsReason, needs } = report;
  const staged = documents.filter(({ isStaged }) => isStaged);
  const what = `${nSessions} sessions, ${nTasks} tasks${pooled > 0 ? `, ${pooled} more to measure with` : ''}.`;
  const left = leftOutLines(report)
    .map((line) => ` ${text(line)}.`)
    .join('');
  if (staged.length === 0) return `Nothing is proposed. ${text(noEditsReason)} ${needs}\n\n${what}${left}`;
  const gains = staged.map(({ name, gain }) => `${nameAsData(name)}${gain ? ` ${signed(gain.value)} points` : ''}`);
  return `Proposed: ${gains.join(', ')}. Adopt ${staged.length > 1 ? 'them' : 'it'} with \`${nightCommandOf(report.night, 'adopt')}\`.\n\n${what}${left}`;
}

const recurringLines = ({ recurring }: SleepReport) =>
  recurring.slice(0, 8).map(({ intent, sessions, days }) => `- ${sessions} times on ${days} days: ${text(intent)}`);

function documentSection(document: DocumentReport, isDetailed: boolean): string[] {
  const { name, path, isStaged, before, after, gain, test, marked = [] } = document;
  const title = `## ${nameAsData(name)}, ${isStaged ? 'proposed' : 'unchanged'}`;
  const where = `In ${nameAsData(path)}.`;
  const measured = `${gainText(gain) ?? 'Not measured'}.`;
  const sealed = test
    ? ` On ${test.tasks} sealed tasks: ${percent(test.before)} before, ${percent(test.after)} after.`
    : '';
  const details = isDetailed
    ? ` ${text(document.verdict)} ${document.calls} calls, ${document.tokensUsed} tokens.`
    : '';
  if (!isStaged) return [title, '', `${where}${sealed}${details}`];
  const diff = changedLines(before, after).map(safeLine);
  const marks = marked.map(({ line, reasons }) => `- ${text(reasons.join(', '))}: ${nameAsData(line)}`);
  const look = marks.length === 0 ? [] : ['', 'What is new, and why to look at it:', '', ...marks];
  return [title, '', `${where} ${measured}${sealed}${details}`, '', '```diff', ...diff, '```', ...look];
}

const taskRows = ({ gateTrials, intents }: SleepReport) =>
  gateTrials.flatMap(({ target, named, taskDeltas }) =>
    taskDeltas.map(({ id, before, after, status }) => {
      const document = named === '' ? target : nameAsData(named);
      return `| ${document} | ${nameAsData(intents[id] ?? id)} | ${percent(before)} | ${percent(after)} | ${status} |`;
    }),
  );

const costLine = ({ startedAt, endedAt, ...cost }: SleepReport) => {
  const minutes = (Date.parse(endedAt) - Date.parse(startedAt)) / 60_000;
  return `${spentWords(cost)}, ${minutes.toFixed(1)} minutes.`;
};
