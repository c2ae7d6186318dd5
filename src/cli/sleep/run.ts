import {
  type Check,
  clockText,
  examineNight,
  findJobProblems,
  installJob,
  type JobHooks,
  logPath,
  type NightJob,
  type PreparedJob,
  planOf,
  prepareJob,
  readClock,
  removeJobs,
  requireConsent,
  requireLocal,
  runAsJob,
  runNight,
  type ScheduleKind,
  skillPathOf,
  takeTurn,
} from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import { nightLines } from '../../report/index.ts';
import {
  type CycleOutcome,
  HandoffPending,
  type OpenSleep,
  openSleep,
  smallestNight,
  usualCalls,
} from '../../sleep/index.ts';
import { shownPath, stateFolderOf } from '../../stores/index.ts';
import { Answered, interruptible } from '../errors.ts';
import { checkInFlags } from '../flags/in-flags.ts';
import { openProgress } from '../progress/progress.ts';
import type { OptionalFlags } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { gatherProgress } from './gather-progress.ts';
import { type PlanFlags, showPlan } from './plan.ts';
import { meantProject, nightCommands } from './proposals.ts';
import { consentFrom, type LimitFlags, limitsIn, placeOf, privateFiles, sleepOptions } from './sleep-flags.ts';

export type RunFlags = PlanFlags &
  LimitFlags & {
    readonly tasks?: string;
    readonly consent?: readonly string[];
    readonly quiet?: boolean;
    /** For a nightly job: do nothing unless this time of the day has passed since the last one. */
    readonly ifDue?: string;
    /** The folder of a night that was started in the background. */
    readonly job?: string;
    /** Of `schedule`: look only at what a night needs. */
    readonly check?: boolean;
  };

type WithSkill = { readonly skill?: string };

/** A night, now: with progress, within its limits, and resumed if it was interrupted. */
export const showNight = (flags: RunFlags & WithSkill, terminal: Terminal): Promise<void> =>
  flags.check ? showNightChecks(flags, terminal) : spendNight(flags, terminal, false);

export const showDryRun = (flags: RunFlags & WithSkill, terminal: Terminal): Promise<void> =>
  spendNight(flags, terminal, true);

async function spendNight(given: RunFlags & WithSkill, terminal: Terminal, isDryRun: boolean): Promise<void> {
  const flags = await namingSkill(given, terminal);
  if (flags.plan) return showPlan(flags, terminal);
  if (flags.ifDue !== undefined && !(await isDue(flags.ifDue, flags, terminal))) return;
  using sleep = await openSleep({ ...sleepOptions(flags, terminal), isDataOnly: flags.job !== undefined });
  using _ = privateFiles();
  const isQuiet = flags.quiet === true;
  const progress = openProgress(terminal, { isQuiet, isNight: true });
  const gathering = gatherProgress(terminal, { isQuiet, maxCalls: flags.maxCalls });
  const close = () => {
    gathering.close();
    progress.close();
  };
  const night = (hooks?: JobHooks) =>
    interruptible({ io: terminal.io, onStop: progress.log }, (stop) => {
      const signal = hooks ? AbortSignal.any([stop, hooks.signal]) : stop;
      return runNight(sleep, {
        ...{ onEvent: gathering.onEvent, consent: consentFrom(flags, terminal), observers: [progress], ...hooks },
        ...{ since: flags.since, isDryRun, signal, limits: limitsIn(flags) },
        tasksFile: flags.tasks === undefined ? undefined : resolvePath(terminal.io.cwd(), flags.tasks),
      });
    }).finally(close);
  try {
    if (flags.job !== undefined) return await runAsJob(flags.job, sleep.folder, night);
    answer(await night(), terminal, isDryRun);
  } catch (error) {
    if (!(error instanceof HandoffPending) || error.files === undefined) throw error;
    terminal.answer({ handoffPending: true, ...error.files }, pendingLines(error));
    throw new Answered(6);
  }
}

/** The flags with the path of the skill that was named: a name means nothing in a list of settings. */
async function namingSkill<Flags extends RunFlags>({ skill, ...flags }: Flags & WithSkill, terminal: Terminal) {
  if (skill === undefined) return flags as unknown as Flags;
  using sleep = await openSleep(sleepOptions(flags, terminal));
  const targetSkillPath = await skillPathOf(skill, sleep, terminal.io.cwd());
  return { ...flags, targetSkillPath } as unknown as Flags;
}

function isDue(at: string, { project = '.' }: RunFlags, terminal: Terminal): Promise<boolean> {
  const folder = resolvePath(terminal.io.cwd(), project);
  return takeTurn(stateFolderOf(placeOf(terminal)), folder, readClock(at), new Date());
}

function answer({ report, proposals, folder }: CycleOutcome, terminal: Terminal, isDryRun: boolean): void {
  const staged = proposals.map(({ id, document, gain }) => ({ id, path: document.path, gain }));
  const commands = nightCommands(report, proposals, terminal);
  const lines = nightLines(report, { folder: folder && shownPath(folder), isDryRun, commands }, terminal);
  terminal.answer({ ...report, isDryRun, proposals: staged, folder: folder ?? null }, lines);
}

function pendingLines({ message, files }: HandoffPending): string[] {
  return [
    `${message}:`,
    ...files!.files.map((file) => `  ${shownPath(file)}`),
    `Each file says how. The answers go to ${shownPath(files!.answersDir)}`,
    'Then run the same command again: it resumes the night.',
  ];
}

/** Checks what a night needs. `schedule` calls it in the environment that the job will have. */
async function showNightChecks(flags: RunFlags, terminal: Terminal): Promise<void> {
  const found = await examineNight(() => openSleep(sleepOptions(flags, terminal)), limitsIn(flags));
  const checks = found.map(checkInFlags);
  const lines = checks.map(({ name, detail }) => `${name}: ${detail}`);
  terminal.answer({ checks }, lines);
}

type ScheduleFlags = RunFlags & OptionalFlags<'at', 'print' | 'force'> & { readonly with?: ScheduleKind };

/** Installs a nightly job. What it needs is checked first, in the environment that it will have. */
export async function schedule(given: ScheduleFlags & WithSkill, terminal: Terminal): Promise<void> {
  const flags: ScheduleFlags = await namingSkill(given, terminal);
  if (flags.since !== undefined) {
    const why = 'a nightly job considers what is new: --since would be the same every night';
    throw new SkillError('USAGE', why, { hint: 'Leave it out.' });
  }
  using sleep = await openSleep(sleepOptions(flags, terminal));
  const prepared = await prepareJob(sleep, {
    ...{ at: flags.at, kind: flags.with, limits: limitsIn(flags) },
    onNote: flags.print ? undefined : terminal.note,
  });
  warnOfFewCalls(sleep, flags, terminal);
  if (flags.print) return terminal.answer(...printed(prepared, terminal));
  requireLocal(prepared);
  await agree(sleep, flags, terminal);
  const problems = await findJobProblems(prepared);
  if (problems.length > 0 && !flags.force) return refuse(problems, terminal);
  for (const { name, detail } of problems) terminal.warn(`${name}: ${oneLine(detail)}`);
  await installJob(sleep, prepared);
  const { job, kind } = prepared;
  terminal.answer({ isScheduled: true, kind, ...shownJob(job), problems }, doneLines(prepared, flags, terminal));
}

function warnOfFewCalls({ settings }: OpenSleep, { maxCalls }: ScheduleFlags, { warn }: Terminal): void {
  const least = smallestNight(settings);
  if (maxCalls === undefined || maxCalls >= least) return;
  const { maxTasksPerNight } = settings;
  const usual = Math.ceil(usualCalls(maxTasksPerNight, settings) / 10) * 10;
  const smallest = `the smallest night that can have one takes about ${least} calls`;
  warn(`--max-calls ${maxCalls} is too few for a proposal: ${smallest}`);
  warn(`--max-calls ${usual} is about what a night of ${plural(maxTasksPerNight, 'task')} takes`);
}

/** A person is here now; the job cannot ask anybody. */
async function agree(sleep: OpenSleep, flags: ScheduleFlags, terminal: Terminal): Promise<void> {
  if (!terminal.canAsk && flags.consent === undefined) return;
  const { recipients } = await planOf(sleep, []);
  await requireConsent(sleep, recipients, consentFrom(flags, terminal));
}

function refuse(problems: readonly Check[], terminal: Terminal): never {
  const lines = problems.flatMap(({ name, detail, remedy }) => [
    `${terminal.colors.red('✗')} ${name}: ${detail}`,
    ...(remedy === undefined ? [] : [`  → ${remedy}`]),
  ]);
  terminal.answer({ isScheduled: false, problems }, [
    'Nothing was installed, because this would be missing at night:',
    ...lines,
    'Fix it and run schedule again, or install the job anyway with --force.',
  ]);
  throw new Answered();
}

function shownJob(job: NightJob) {
  const { project, at, command, env, pinned } = job;
  return { project, at: clockText(at), command, env, pinned, log: logPath(job) };
}

function printed({ job, kind, files }: PreparedJob, { colors }: Terminal): [object, string[]] {
  const lines = files.flatMap(({ path, text }) => [colors.bold(`== ${path}`), ...text.split(/\r?\n/)]);
  return [{ isScheduled: false, kind, ...shownJob(job), files }, lines];
}

const LINGER = 'Your timers run while you are logged in; always with: loginctl enable-linger';

function doneLines({ job, kind }: PreparedJob, flags: ScheduleFlags, { colors: { dim }, called }: Terminal): string[] {
  const undo = flags.project === undefined ? '' : ` --project ${oneLine(job.project)}`;
  return [
    `A night for ${oneLine(job.project)}, every day at ${clockText(job.at)} or as soon as the machine is back (${kind}).`,
    `${called('It proposes and writes to no live document; see skillopt sleep status in the morning.')} Log: ${logPath(job)}`,
    ...(kind === 'systemd' ? [dim(LINGER)] : []),
    dim(`Made for ${job.pinned.map(({ name, version, path }) => `${name} ${version} (${path})`).join(', ')}.`),
    dim(`After an update of one of them call schedule again. Undo: ${called('skillopt sleep unschedule')}${undo}`),
  ];
}

type UnscheduleFlags = OptionalFlags<'project', 'all'>;

export async function unschedule(flags: UnscheduleFlags, terminal: Terminal): Promise<void> {
  const place = placeOf(terminal);
  const isAll = flags.all === true;
  const { removed, project } = await removeJobs({
    ...{ stateFolder: stateFolderOf(place), place, isAll, notices: terminal },
    project: meantProject(flags, terminal).here,
  });
  terminal.answer({ removed, project: isAll ? null : project }, [removedLine(removed.length, project, flags)]);
}

function removedLine(count: number, project: string, { all }: UnscheduleFlags): string {
  if (all) return count === 0 ? 'There was no nightly job of ours.' : `Took ${plural(count, 'nightly job')} away.`;
  const where = oneLine(project);
  return count === 0 ? `There was no nightly job for ${where}.` : `No night runs for ${where} by itself any more.`;
}
