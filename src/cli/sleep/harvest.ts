import { constants } from 'node:fs';
import { harvestSessions, type NotSurveyed, surveySessions } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { count, oneLine, plural, shellWord } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import { atMost, type Column, clip, nextLines, rightColumns, table, wrap } from '../../report/index.ts';
import {
  type FileTrouble,
  type Harvest,
  type HarvestCounts,
  LEAST_HELD_OUT,
  type MineResult,
  type Overview,
  openSleep,
  requireReplaceable,
  tasksFileText,
  toTaskJson,
  writeTasksFile,
} from '../../sleep/index.ts';
import { mayAccess, shownPath } from '../../stores/index.ts';
import { findSource } from '../../transcripts/index.ts';
import { interruptible } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { gatherProgress } from './gather-progress.ts';
import { consentFrom, retyped, type SleepFlags, sleepOptions } from './sleep-flags.ts';

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
const PROJECT: Column = { title: 'project', isElastic: true };
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
    'nobody asked for anything in it, a sub-agent or a program talked to the agent, or the person said that nothing shall be learned from it';
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

type HarvestFlags = SleepFlags & {
  /** A path, or `-` for stdout. */
  readonly output?: string;
  readonly force?: boolean;
  readonly withModel?: boolean;
  readonly consent?: readonly string[];
};

/** What the sessions of a scope would teach, as tasks. Asks a model only with --with-model, and advances nothing. */
export async function showHarvest(flags: HarvestFlags, terminal: Terminal): Promise<void> {
  const output = await outputOf(flags, terminal);
  using sleep = await openSleep(sleepOptions(flags, terminal));
  const progress = gatherProgress(terminal);
  const { harvest, mined } = await interruptible({ io: terminal.io, onStop: terminal.say }, (signal) =>
    harvestSessions(sleep, {
      ...{ since: flags.since, isByModel: flags.withModel, signal, onGather: progress.onEvent },
      consent: consentFrom(flags, terminal),
    }),
  ).finally(progress.close);
  const lines = gatheredLines({ harvest, mined, flags, redact: sleep.redact }, terminal);
  const file = {
    project: sleep.redact(sleep.project),
    transcriptSource: sleep.sources.map(({ name }) => name).join(','),
    nSessions: harvest.sessions.length,
    targetSkillPath: sleep.redact(sleep.settings.targetSkillPath ?? ''),
    tasks: mined.tasks,
  };
  if (output === '-') {
    for (const line of lines) terminal.say(line);
    return void terminal.io.stdout.write(tasksFileText(file));
  }
  if (output !== undefined) await writeTasksFile(output, file);
  const { sessions: sessionsFound, ...counts } = harvest.considered;
  const { groups, dropped } = mined;
  const found = { sessionsFound, ...counts, sessions: harvest.sessions.length };
  const answer = { ...found, tasks: mined.tasks.map(toTaskJson), groups, dropped, trouble: harvest.trouble, output };
  terminal.answer(answer, [...lines, ...outputLines({ output, tasks: mined.tasks.length }, flags, terminal)]);
}

/** Known to be writable before anything is paid for. */
async function outputOf({ output, force }: HarvestFlags, terminal: Terminal): Promise<string | undefined> {
  if (output === '-' && terminal.isJson) {
    const hint = 'Leave one of them out: --json has the tasks too.';
    throw new SkillError('USAGE', 'expected one answer on stdout, got --output - and --json', { hint });
  }
  if (output === undefined || output === '-') return output;
  const path = resolvePath(terminal.io.cwd(), output);
  await requireReplaceable(path, { isForced: force });
  return path;
}

type Gathered = { harvest: Harvest; mined: MineResult; flags: HarvestFlags; redact: (text: string) => string };

const MOST_GROUPS = 5;

function gatheredLines({ harvest, mined, flags, redact }: Gathered, terminal: Terminal): string[] {
  const { sessions, considered, trouble } = harvest;
  const { width, colors } = terminal;
  const rest = [...notConsidered(considered).map(colors.dim), ...troubleLines(trouble, redact, terminal)];
  if (sessions.length === 0) return ['No session to learn from.', ...rest];
  const how = flags.withModel ? 'as the model found them' : 'by rule: no model was asked';
  const recurring = mined.groups.filter(({ sessionIds }) => sessionIds.length > 1).slice(0, MOST_GROUPS);
  const asked = recurring.map(({ intent, sessionIds, dates }) =>
    clip(`asked ${sessionIds.length} times on ${plural(dates.length, 'day')}: ${oneLine(intent)}`, width),
  );
  return [
    ...wrap(`${plural(mined.tasks.length, 'task')} from ${plural(sessions.length, 'session')}, ${how}.`, width),
    '',
    ...taskTable(mined, terminal),
    ...asked,
    ...(mined.tasks.length > 0 ? wrap(proofLine(mined, asked.length > 0), width) : []),
    ...mined.notes.map(colors.dim),
    ...rest,
  ];
}

/** In the words of a night: tasks that are held out prove something, even if no two requests are alike. */
function proofLine({ tasks }: MineResult, isAskedAgain: boolean): string {
  const held = tasks.filter(({ split }) => split === 'val').length;
  const have = `${isAskedAgain ? '' : 'No two requests are worded alike. '}${held} of the ${LEAST_HELD_OUT} held-out tasks that a proof needs are here`;
  return held < LEAST_HELD_OUT ? `${have}: more sessions with other requests bring more.` : `${have}.`;
}

const TASK_COLUMNS: readonly Column[] = [
  { title: 'task', isElastic: true },
  { title: 'outcome' },
  { title: 'split' },
  ...rightColumns(['sessions'], true),
  { title: 'id', isOptional: true },
];

function taskTable({ tasks }: MineResult, terminal: Terminal): string[] {
  if (tasks.length === 0) return [];
  const isOfMany = new Set(tasks.map(({ project }) => project)).size > 1;
  const rows = tasks.map(({ project, intent, outcome, split, sourceSessions, id }) => [
    ...(isOfMany ? [oneLine(project)] : []),
    ...[oneLine(intent), outcome, split, String(sourceSessions.length), id],
  ]);
  return [...table([...(isOfMany ? [PROJECT] : []), ...TASK_COLUMNS], rows, terminal), ''];
}

type Output = { readonly output: string | undefined; readonly tasks: number };

function outputLines({ output, tasks }: Output, flags: HarvestFlags, terminal: Terminal): string[] {
  if (output === undefined && tasks === 0) return [];
  if (output === undefined) {
    const command = retyped(`harvest${flags.withModel ? ' --with-model' : ''} --output tasks.json`, flags);
    return ['', ...nextLines([[command, 'the tasks as a file, to review by hand']], terminal)];
  }
  const file = shownPath(output, terminal.io.cwd());
  if (tasks === 0)
    return ['', ...wrap(`written: ${file}. It has no task, so a night has nothing to do with it yet.`, terminal.width)];
  const use = `Then skillopt sleep run --tasks ${shellWord(file)} spends a night on it; skillopt train does not read it.`;
  const written = `written: ${file}. Read it, correct it, and set "reviewed": true in it. ${terminal.called(use)}`;
  return ['', ...wrap(written, terminal.width)];
}

export function notConsidered(counts: HarvestCounts): string[] {
  const reasons: readonly (readonly [number, string])[] = [
    [counts.otherProjects, 'of other projects (--all-projects takes them)'],
    [counts.tooOld, 'older than was asked for (--lookback-hours 0 takes all)'],
    [counts.seen, 'considered on an earlier night'],
    [counts.ignored, 'named in a .skilloptignore'],
    [counts.overLimit, 'over the limit of a night; they wait for the next'],
    [counts.leftOut['asked-not-to'] ?? 0, 'in which the person said that nothing shall be learned'],
    [counts.leftOut['no-prompt'] ?? 0, 'in which nobody asked for anything'],
    [counts.leftOut['sub-agent'] ?? 0, 'of sub-agents'],
    [counts.leftOut.headless ?? 0, 'started by a program'],
    [counts.leftOut['own-call'] ?? 0, 'of our own calls'],
  ];
  return reasons.filter(([times]) => times > 0).map(([times, what]) => `${plural(times, 'session')} ${what}`);
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
