import { constants } from 'node:fs';
import { type NotSurveyed, surveySessions } from '../../app/index.ts';
import { count, oneLine, plural } from '../../core/text/index.ts';
import { atMost, type Column, nextLines, rightColumns, table, wrap } from '../../report/index.ts';
import { type FileTrouble, type Overview, openSleep } from '../../sleep/index.ts';
import { mayAccess } from '../../stores/index.ts';
import { findSource } from '../../transcripts/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { gatherProgress } from './gather-progress.ts';
import { retyped, type SleepFlags, sleepOptions } from './sleep-flags.ts';

/** What there is to learn from on this machine. Asks no model, and reads only what has changed since the last time. */
export async function showOverview(flags: SleepFlags, terminal: Terminal): Promise<void> {
  using sleep = await openSleep(sleepOptions(flags, terminal));
  const progress = gatherProgress(terminal);
  const options = { since: flags.since, isOfProject: flags.project !== undefined, onGather: progress.onEvent };
  const survey = await surveySessions(sleep, options).finally(progress.close);
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

const COUNTS = rightColumns(['sessions', 'could teach']);
export const PROJECT: Column = { title: 'project', isElastic: true };
const AGENT_COLUMNS = [{ title: 'agent', isElastic: true }, ...COUNTS, { title: 'first' }, { title: 'last' }];
const PROJECT_COLUMNS = [PROJECT, ...COUNTS, { title: 'first', isOptional: true }, { title: 'last' }];
const MOST_PROJECTS = 8;

type OverviewNotes = Readonly<Record<'trouble' | 'lookedAt' | 'notMeant', readonly string[]>> & {
  /** `here` is the folder that is meant, as sessions name it. */
  readonly next: { readonly flags: SleepFlags; readonly here: string; readonly usableHere: number };
};

function overviewLines(found: Overview, notes: OverviewNotes, terminal: Terminal): string[] {
  const { colors, width } = terminal;
  if (found.sessions === 0) return nothingFound(notes, terminal);
  const more = found.projects.length - MOST_PROJECTS;
  const agents = found.agents.map((row) => [findSource(row.source).title, ...cells(row)]);
  const projects = found.projects.slice(0, MOST_PROJECTS).map((row) => [row.project || '(not known)', ...cells(row)]);
  return [
    ...wrap('What your coding agents kept on this machine. Nothing was sent anywhere, no model was asked.', width),
    '',
    ...table(AGENT_COLUMNS, agents, terminal),
    '',
    ...table(PROJECT_COLUMNS, projects, terminal),
    ...(more > 0 ? [colors.dim(`and ${plural(more, 'project')} more: --json lists all`)] : []),
    colors.dim('dates are in UTC'),
    ...leftOutLine(found, width),
    ...notes.trouble,
    '',
    ...nextSteps(notes, terminal),
  ];
}

const cells = ({ sessions, usable, firstAt, lastAt }: Overview['agents' | 'projects'][number]) => [
  count(sessions),
  count(usable),
  firstAt.slice(0, 10),
  lastAt.slice(0, 10),
];

function leftOutLine({ sessions, usable }: Overview, width: number): string[] {
  const others = sessions - usable;
  if (others === 0) return [];
  const why =
    'nobody asked for anything in it, a sub-agent or a program talked to the agent, or the person asked that nothing be learned from it';
  return ['', ...wrap(`${plural(others, 'session')} cannot teach anything: ${why}.`, width)];
}

function nextSteps({ next }: OverviewNotes, terminal: Terminal): string[] {
  const { here, usableHere, flags } = next;
  const isAll = flags.allProjects === true;
  const ofHere = usableHere > 0 && `${plural(usableHere, 'session')} of ${oneLine(here)}`;
  const ofOne = ofHere || 'none of them is of this folder; of all projects';
  const { project: _project, ...others } = flags;
  const given = isAll || ofHere ? flags : { ...others, allProjects: true };
  const tasks = `the tasks in them (${isAll ? 'sessions of all projects' : ofOne}), no model asked`;
  const cost = 'what a night would cost, and every text that it may send';
  return nextLines(
    [
      [retyped('harvest', given), tasks],
      [retyped('run --plan', given), cost],
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

const MOST_NAMED = 3;

/** Transcripts that were read in part or not at all, by what is to be done about them, with their names. */
export function troubleLines(trouble: readonly FileTrouble[], redact: (text: string) => string, terminal: Terminal) {
  const unread = trouble.filter(({ trouble: kinds }) => kinds.unreadable);
  const closed = unread.filter(({ path }) => !mayAccess(path, constants.R_OK));
  const groups: readonly (readonly [readonly FileTrouble[], string])[] = [
    [closed, 'may not be read by you: look at the permissions'],
    [unread.filter((one) => !closed.includes(one)), 'could not be read: not in a form that we know'],
    [trouble.filter((one) => !unread.includes(one)), 'had damaged or unfinished lines, which were passed over'],
  ];
  return groups.flatMap(([files, what]) => {
    if (files.length === 0) return [];
    const names = files.map(({ path }) => oneLine(redact(path)));
    return [
      ...wrap(`${plural(files.length, 'transcript')} ${what}.`, terminal.width),
      ...atMost(MOST_NAMED, names, (rest) => `and ${rest} more: --json lists all`).map((name) =>
        terminal.colors.dim(`  ${name}`),
      ),
    ];
  });
}
