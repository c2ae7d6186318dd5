import {
  clockText,
  findJobProblems,
  installJob,
  logPath,
  type NightCheck,
  type NightJob,
  type PreparedJob,
  planOf,
  prepareJob,
  removeJobs,
  requireConsent,
  requireLocal,
  type ScheduleKind,
} from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { type OpenSleep, openSleep, smallestNight, usualCalls } from '../../sleep/index.ts';
import { stateFolderOf } from '../../stores/index.ts';
import { Answered } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { meantProject } from './proposals.ts';
import { namingSkill, type RunFlags, type WithSkill } from './run.ts';
import { consentFrom, limitsIn, placeOf, sleepOptions } from './sleep-flags.ts';

type ScheduleFlags = RunFlags & {
  readonly at?: string;
  readonly with?: ScheduleKind;
  readonly print?: boolean;
  readonly force?: boolean;
};

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
  warn(
    `--max-calls ${maxCalls} is too few for a proposal: the smallest night that can have one takes about ${least} calls`,
  );
  warn(`--max-calls ${usual} is about what a night of ${plural(maxTasksPerNight, 'task')} takes`);
}

/** A person is here now; the job cannot ask anybody. */
async function agree(sleep: OpenSleep, flags: ScheduleFlags, terminal: Terminal): Promise<void> {
  if (!terminal.canAsk && flags.consent === undefined) return;
  const { recipients } = await planOf(sleep, []);
  await requireConsent(sleep, recipients, consentFrom(flags, terminal));
}

function refuse(problems: readonly NightCheck[], terminal: Terminal): never {
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

function doneLines({ job, kind }: PreparedJob, flags: ScheduleFlags, { colors, called }: Terminal): string[] {
  const { dim } = colors;
  const undo = flags.project === undefined ? '' : ` --project ${oneLine(job.project)}`;
  return [
    `A night for ${oneLine(job.project)}, every day at ${clockText(job.at)} or as soon as the machine is back (${kind}).`,
    `${called('It proposes and writes to no live document; see skillopt sleep status in the morning.')} Log: ${logPath(job)}`,
    ...(kind === 'systemd'
      ? [dim('Your timers run while you are logged in; always with: loginctl enable-linger')]
      : []),
    dim(`Made for ${job.pinned.map(({ name, version, path }) => `${name} ${version} (${path})`).join(', ')}.`),
    dim(`After an update of one of them call schedule again. Undo: ${called('skillopt sleep unschedule')}${undo}`),
  ];
}

type UnscheduleFlags = { readonly project?: string; readonly all?: boolean };

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
