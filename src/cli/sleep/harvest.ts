import { harvestSessions } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine, plural, shellWord } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import { type Column, clip, nextLines, rightColumns, table, wrap } from '../../report/index.ts';
import {
  type Harvest,
  type HarvestCounts,
  LEAST_HELD_OUT,
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
import { PROJECT, troubleLines } from './overview.ts';
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
    [counts.leftOut['asked-not-to'] ?? 0, 'in which the person asked that nothing be learned'],
    [counts.leftOut['no-prompt'] ?? 0, 'in which nobody asked for anything'],
    [counts.leftOut['sub-agent'] ?? 0, 'of sub-agents'],
    [counts.leftOut.headless ?? 0, 'started by a program'],
    [counts.leftOut['own-call'] ?? 0, 'of our own calls'],
  ];
  return reasons.filter(([times]) => times > 0).map(([times, what]) => `${plural(times, 'session')} ${what}`);
}
