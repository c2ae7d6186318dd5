import { oneLine } from '../../core/text/printable.ts';
import type { Overview } from '../../sleep/harvest/overview.ts';
import { findSource } from '../../transcripts/sources.ts';
import { count, plural } from '../terminal/figures.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { type Column, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

const number = { align: 'right' } as const;
const AGENT_COLUMNS: readonly Column[] = [
  { title: 'agent', isElastic: true },
  { title: 'sessions', ...number },
  { title: 'could teach', ...number },
  { title: 'first' },
  { title: 'last' },
];
const PROJECT_COLUMNS: readonly Column[] = [
  { title: 'project', isElastic: true },
  ...AGENT_COLUMNS.slice(1).map((column) => (column.title === 'first' ? { ...column, isOptional: true } : column)),
];
const MOST_PROJECTS = 8;

/** What the next command is told, and why. */
export type NextCommands = {
  /** As it was given on the command line. */
  readonly project: string | undefined;
  readonly since: string | undefined;
  /** Where a night would not look back far enough. */
  readonly lookbackHours: number | undefined;
  /** The folder that is meant, as sessions name it. */
  readonly here: string;
  /** Sessions of this folder that could teach something. */
  readonly usableHere: number;
};

type OverviewNotes = {
  readonly next: NextCommands;
  readonly damagedFiles: number;
  readonly lookedAt: readonly string[];
};

/** What lies on this machine to learn from, and what to type next. */
export function overviewLines(found: Overview, notes: OverviewNotes, terminal: Terminal): string[] {
  const { colors, width } = terminal;
  if (found.sessions === 0) return nothingFound(notes);
  const look = { width, paintTitle: colors.dim };
  const more = found.projects.length - MOST_PROJECTS;
  return [
    'What your coding agents kept on this machine. Nothing was sent anywhere, no model was asked.',
    '',
    ...table(
      AGENT_COLUMNS,
      found.agents.map((row) => [titleOf(row.source), ...cells(row)]),
      look,
    ),
    '',
    ...table(
      PROJECT_COLUMNS,
      found.projects.slice(0, MOST_PROJECTS).map((row) => [row.project || '(not known)', ...cells(row)]),
      look,
    ),
    ...(more > 0 ? [colors.dim(`and ${plural(more, 'project')} more: --json lists all`)] : []),
    ...leftOutLine(found),
    ...(notes.damagedFiles > 0
      ? [`${plural(notes.damagedFiles, 'transcript')} had damaged or unfinished lines, which were passed over.`]
      : []),
    '',
    ...nextSteps(notes, colors.bold),
  ];
}

const titleOf = (source: string) => findSource(source).title;

const cells = ({ sessions, usable, firstAt, lastAt }: Overview['agents'][number] | Overview['projects'][number]) => [
  count(sessions),
  count(usable),
  firstAt.slice(0, 10),
  lastAt.slice(0, 10),
];

function leftOutLine({ sessions, usable }: Overview): string[] {
  const others = sessions - usable;
  if (others === 0) return [];
  return [
    '',
    `${plural(others, 'session')} cannot teach: no request of a person, a sub-agent, a program, or one that asked for it.`,
  ];
}

function nextSteps({ next }: OverviewNotes, bold: (text: string) => string): string[] {
  const { here, usableHere } = next;
  const what =
    usableHere > 0
      ? `${plural(usableHere, 'session')} of ${oneLine(here)}`
      : 'none of them is of this folder; of all projects';
  const [harvest, plan] = ['harvest', 'run --plan'].map((name) => `skillopt sleep ${name}${flagsOf(next)}`);
  return [
    `next:  ${bold(harvest!.padEnd(plan!.length))}  the tasks in them (${what}), no model asked`,
    `       ${bold(plan!)}  what a night would cost, and every text that it may send`,
  ];
}

function flagsOf({ project, since, lookbackHours, usableHere }: NextCommands): string {
  const scope = usableHere === 0 ? ['--all-projects'] : project === undefined ? [] : ['--project', project];
  const from = since === undefined ? [] : ['--since', since];
  const back = lookbackHours === undefined ? [] : ['--lookback-hours', String(lookbackHours)];
  return [...scope, ...from, ...back].map((word) => ` ${shellWord(word)}`).join('');
}

function nothingFound({ lookedAt }: OverviewNotes): string[] {
  return [
    'No transcripts of a coding agent were found on this machine.',
    ...lookedAt.map((root) => `  looked at ${oneLine(root)}`),
    'Work with an agent for a day and look again, or say where its home is, for example CLAUDE_CONFIG_DIR=PATH.',
  ];
}
