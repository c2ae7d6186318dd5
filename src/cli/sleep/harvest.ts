import { accessSync, constants } from 'node:fs';
import { harvestSessions } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine, plural, shellWord } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import { type Column, clip, nextLines, table, wrap } from '../../report/index.ts';
import {
  type FileTrouble,
  type Harvest,
  type HarvestCounts,
  type MineResult,
  openSleep,
  requireReplaceable,
  tasksFileText,
  toTaskJson,
  writeTasksFile,
} from '../../sleep/index.ts';
import { shownPath } from '../../stores/index.ts';
import { interruptible } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { gatherProgress } from './gather-progress.ts';
import { consentFrom, retyped, type SleepFlags, sleepOptions } from './sleep-flags.ts';

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
  terminal.answer(answer, [...lines, ...outputLines(output, flags, terminal)]);
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
  const rest = [
    ...notConsidered(considered).map((line) => colors.dim(line)),
    ...troubleLines(trouble, redact, terminal),
  ];
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
    ...(asked.length === 0 && mined.tasks.length > 0 ? ['Nothing was asked twice yet.'] : []),
    ...mined.notes.map((note) => colors.dim(note)),
    ...rest,
  ];
}

const PROJECT: Column = { title: 'project', isElastic: true };
const TASK_COLUMNS: readonly Column[] = [
  { title: 'task', isElastic: true },
  { title: 'outcome' },
  { title: 'split' },
  { title: 'sessions', align: 'right', isOptional: true },
  { title: 'id', isOptional: true },
];

function taskTable({ tasks }: MineResult, { width, colors }: Terminal): string[] {
  if (tasks.length === 0) return [];
  const isOfMany = new Set(tasks.map(({ project }) => project)).size > 1;
  const rows = tasks.map(({ project, intent, outcome, split, sourceSessions, id }) => [
    ...(isOfMany ? [oneLine(project)] : []),
    oneLine(intent),
    outcome,
    split,
    String(sourceSessions.length),
    id,
  ]);
  return [...table([...(isOfMany ? [PROJECT] : []), ...TASK_COLUMNS], rows, { width, paintTitle: colors.dim }), ''];
}

function outputLines(output: string | undefined, flags: HarvestFlags, terminal: Terminal): string[] {
  const { io, width, called } = terminal;
  if (output === undefined) {
    const command = retyped(`harvest${flags.withModel ? ' --with-model' : ''} --output tasks.json`, flags);
    return ['', ...nextLines([[command, 'the tasks as a file, to review by hand']], terminal)];
  }
  const file = shownPath(output, io.cwd());
  const use = called(
    `Then skillopt sleep run --tasks ${shellWord(file)} spends a night on it; skillopt train does not read it.`,
  );
  return ['', ...wrap(`written: ${file}. Read it, correct it, and set "reviewed": true in it. ${use}`, width)];
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
export function troubleLines(
  trouble: readonly FileTrouble[],
  redact: (text: string) => string,
  terminal: Terminal,
): string[] {
  const unread = trouble.filter(({ trouble: kinds }) => kinds.unreadable);
  const closed = unread.filter(({ path }) => !mayRead(path));
  const groups: readonly (readonly [readonly FileTrouble[], string])[] = [
    [closed, 'may not be read by you: look at the permissions'],
    [unread.filter((one) => !closed.includes(one)), 'could not be read: not in a form that we know'],
    [trouble.filter((one) => !unread.includes(one)), 'had damaged or unfinished lines, which were passed over'],
  ];
  return groups.flatMap(([files, what]) => {
    if (files.length === 0) return [];
    const names = files.slice(0, MOST_NAMED).map(({ path }) => oneLine(redact(path)));
    const more = files.length > MOST_NAMED ? [`and ${files.length - MOST_NAMED} more: --json lists all`] : [];
    return [
      ...wrap(`${plural(files.length, 'transcript')} ${what}.`, terminal.width),
      ...[...names, ...more].map((name) => terminal.colors.dim(`  ${name}`)),
    ];
  });
}

function mayRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
