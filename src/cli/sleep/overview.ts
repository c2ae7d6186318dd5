import { type NotSurveyed, surveySessions } from '../../app/index.ts';
import { count, oneLine, plural } from '../../core/text/index.ts';
import { type Column, nextLines, table, wrap } from '../../report/index.ts';
import { type Overview, openSleep } from '../../sleep/index.ts';
import { findSource } from '../../transcripts/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { gatherProgress } from './gather-progress.ts';
import { troubleLines } from './harvest.ts';
import { retyped, type SleepFlags, sleepOptions } from './sleep-flags.ts';

/** What there is to learn from on this machine. Asks no model, and reads only what has changed since the last time. */
export async function showOverview(flags: SleepFlags, terminal: Terminal): Promise<void> {
  using sleep = await openSleep(sleepOptions(flags, terminal));
  const progress = gatherProgress(terminal);
  const isOfProject = flags.project !== undefined;
  const survey = await surveySessions(sleep, { since: flags.since, isOfProject, onGather: progress.onEvent }).finally(
    progress.close,
  );
  const { overview, trouble, filesRead, notSurveyed, lookedAt, usableHere, isRecent } = survey;
  const further = isRecent || flags.since !== undefined ? {} : { lookbackHours: 0 }; // so that the next command finds something
  const notes = {
    next: { flags: { ...flags, ...further }, here: sleep.redact(sleep.project), usableHere },
    trouble: troubleLines(trouble, sleep.redact, terminal),
    lookedAt,
    notMeant: notSurveyed.map(([why, times]) => `${plural(times, 'session')} ${whyText(why, flags)}`),
  };
  terminal.answer({ ...overview, trouble, filesRead }, overviewLines(overview, notes, terminal));
}

const whyText = (why: NotSurveyed, { since }: SleepFlags) =>
  ({
    'other-agent': 'of other agents (--source auto takes all)',
    'other-project': 'of other projects (--all-projects takes them)',
    'too-old': `that ended before ${since} (in UTC, unless it names a zone)`,
    ignored: 'named in a .skilloptignore',
  })[why];

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

type OverviewNotes = {
  /** `here` is the folder that is meant, as sessions name it. */
  readonly next: { readonly flags: SleepFlags; readonly here: string; readonly usableHere: number };
  readonly trouble: readonly string[];
  readonly lookedAt: readonly string[];
  readonly notMeant: readonly string[];
};

function overviewLines(found: Overview, notes: OverviewNotes, terminal: Terminal): string[] {
  const { colors, width } = terminal;
  if (found.sessions === 0) return nothingFound(notes, terminal);
  const look = { width, paintTitle: colors.dim };
  const more = found.projects.length - MOST_PROJECTS;
  const agents = found.agents.map((row) => [findSource(row.source).title, ...cells(row)]);
  const shown = found.projects.slice(0, MOST_PROJECTS);
  const projects = shown.map((row) => [row.project || '(not known)', ...cells(row)]);
  return [
    ...wrap('What your coding agents kept on this machine. Nothing was sent anywhere, no model was asked.', width),
    '',
    ...table(AGENT_COLUMNS, agents, look),
    '',
    ...table(PROJECT_COLUMNS, projects, look),
    ...(more > 0 ? [colors.dim(`and ${plural(more, 'project')} more: --json lists all`)] : []),
    colors.dim('dates are in UTC'),
    ...leftOutLine(found, width),
    ...notes.trouble,
    '',
    ...nextSteps(notes, terminal),
  ];
}

const cells = ({ sessions, usable, firstAt, lastAt }: Overview['agents'][number] | Overview['projects'][number]) => [
  count(sessions),
  count(usable),
  firstAt.slice(0, 10),
  lastAt.slice(0, 10),
];

function leftOutLine({ sessions, usable }: Overview, width: number): string[] {
  const others = sessions - usable;
  if (others === 0) return [];
  const why =
    'nobody asked for anything in it, a sub-agent or a program talked to the agent, or the person said that nothing shall be learned from it';
  return ['', ...wrap(`${plural(others, 'session')} cannot teach anything: ${why}.`, width)];
}

function nextSteps({ next }: OverviewNotes, terminal: Terminal): string[] {
  const { here, usableHere, flags } = next;
  const isAll = flags.allProjects === true;
  const isHere = usableHere > 0;
  const ofOne = isHere
    ? `${plural(usableHere, 'session')} of ${oneLine(here)}`
    : 'none of them is of this folder; of all projects';
  const what = isAll ? 'sessions of all projects' : ofOne;
  const { project: _project, ...others } = flags;
  const given = isAll || isHere ? flags : { ...others, allProjects: true };
  return nextLines(
    [
      [retyped('harvest', given), `the tasks in them (${what}), no model asked`],
      [retyped('run --plan', given), 'what a night would cost, and every text that it may send'],
    ],
    terminal,
  );
}

function nothingFound({ lookedAt, notMeant, trouble }: OverviewNotes, { width }: Terminal): string[] {
  if (notMeant.length > 0)
    return ['No session is meant by these flags:', ...notMeant.map((line) => `  ${line}`), ...trouble];
  return [
    'No transcripts of a coding agent were found on this machine.',
    ...lookedAt.map((root) => `  looked at ${oneLine(root)}`),
    ...trouble,
    ...wrap(
      'Work with an agent for a day and look again, or say where its home is, for example CLAUDE_CONFIG_DIR=PATH.',
      width,
    ),
  ];
}
