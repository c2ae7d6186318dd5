import { lstatSync } from 'node:fs';
import { isInside } from '../../../agents/index.ts';
import type { Check } from '../../../app/index.ts';
import { SkillError } from '../../../core/contracts/index.ts';
import { oneLine } from '../../../core/text/index.ts';
import {
  clockText,
  keepSchedule,
  logPath,
  type NightJob,
  readClock,
  type ScheduleKind,
  schedulesFolder,
} from '../../../sleep/index.ts';
import { makeFolderBelow, takeLock } from '../../../stores/index.ts';
import { Answered } from '../../answered.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { providersIn, requireConsent } from '../ask-consent.ts';
import { warnOfEveryNight } from '../gather/least-need.ts';
import { type OpenSleep, openSleep, retyped } from '../open-sleep.ts';
import { planOf } from '../plan-lines.ts';
import { namingSkill, type RunFlags, type WithSkill } from '../run.ts';
import { checkJob } from './check-night.ts';
import { chooseInstaller, type Installers, openInstallers } from './choose-installer.ts';
import type { Installer } from './installer.ts';
import { jobOf, requireCap } from './job-of.ts';

export type ScheduleFlags = RunFlags & {
  readonly at?: string;
  readonly with?: ScheduleKind;
  readonly print?: boolean;
  readonly force?: boolean;
};

/** Has a night run every night. What it needs is looked at first, in the environment that the job will have. */
export async function schedule(given: ScheduleFlags & WithSkill, terminal: Terminal): Promise<void> {
  const flags: ScheduleFlags = await namingSkill(given, terminal);
  const at = readClock(flags.at ?? '03:17');
  if (flags.since !== undefined)
    throw new SkillError('USAGE', 'a nightly job considers what is new: --since would be the same every night', {
      hint: 'Leave it out.',
    });
  using sleep = await openSleep(flags, terminal);
  requireCap(sleep, flags);
  requireFolder(sleep.project);
  warnOfEveryNight({ maxCalls: flags.maxCalls, settings: sleep.settings }, terminal);
  const installers = openInstallers(sleep.place, sleep.project);
  const installer = await chooseInstaller(installers, flags.with, flags.print ? () => {} : terminal.note);
  const job = await jobOf(sleep, { flags, at, isUnsure: installer.isUnsure });
  if (flags.print) return terminal.answer(...printed(job, installer, terminal));
  requireLocal(installer, installers);
  await agree(sleep, flags, terminal);
  const problems = [...ownProblems(job), ...(await checkJob(job)).filter(({ isOk }) => !isOk)];
  if (problems.length > 0 && !flags.force) return refuse(problems, terminal);
  for (const { name, detail } of problems) terminal.warn(`${name}: ${oneLine(detail)}`);
  await put(job, { sleep, installer, installers }, terminal);
  terminal.answer(
    { isScheduled: true, kind: installer.kind, ...shownJob(job), problems },
    doneLines(job, installer, flags, terminal),
  );
}

function requireLocal(installer: Installer, { local }: Installers): void {
  if (local.includes(installer)) return;
  const kinds = local.map(({ kind }) => kind).join(' or ');
  throw new SkillError('USAGE', `expected ${kinds} behind --with on this system, got ${installer.kind}`, {
    hint: 'Leave it out, or add --print to see what it would be.',
  });
}

function requireFolder(project: string): void {
  if (lstatSync(project, { throwIfNoEntry: false }) !== undefined) return;
  throw new SkillError('USAGE', `${project} is not there`, { hint: 'Name the folder of a project with --project.' });
}

/** A person is here now; the job cannot ask anybody. */
async function agree(sleep: OpenSleep, flags: ScheduleFlags, terminal: Terminal): Promise<void> {
  if (!terminal.canAsk && flags.consent === undefined) return;
  const { recipients } = await planOf(sleep, []);
  const pages = retyped('run --plan --page all', flags);
  await requireConsent({ folder: sleep.folder, recipients, given: providersIn(flags.consent), pages }, terminal);
}

/** Programs that may be gone, or changed by an agent, by the next night. */
function ownProblems({ pinned, project }: NightJob): Check[] {
  const cli = pinned.find(({ name }) => name === 'skillopt')!.path;
  const remedy = 'Install it for yourself: npm install --global skillopt';
  const problem = (detail: string) => [{ name: 'skillopt', isOk: false, detail, remedy }];
  if (/[\\/]_npx[\\/]/.test(cli)) return problem(`${cli} is in a cache that npx may empty`);
  return isInside(cli, project) ? problem(`${cli} lies inside the project, where an agent could change it`) : [];
}

function refuse(problems: readonly Check[], terminal: Terminal): never {
  const lines = problems.flatMap(({ name, detail, remedy }) => [
    `${terminal.colors.red('✗')} ${name}: ${detail}`,
    ...(remedy === undefined ? [] : [`  → ${remedy}`]),
  ]);
  terminal.answer({ isScheduled: false, problems }, [
    'Nothing was installed: at night this would be missing.',
    ...lines,
    'Mend it and call schedule again, or install the job all the same with --force.',
  ]);
  throw new Answered();
}

type Putting = { readonly sleep: OpenSleep; readonly installer: Installer; readonly installers: Installers };

/** The private files first: no job may point to what is not there. Never two jobs for one project. */
async function put(job: NightJob, { sleep, installer, installers }: Putting, terminal: Terminal): Promise<void> {
  const { kind } = installer;
  await makeFolderBelow(sleep.folder, schedulesFolder(sleep.folder));
  const lock = await takeLock(`${schedulesFolder(sleep.folder)}/schedule.lock`, LOCK_WORDS);
  try {
    const undo = await keepSchedule(sleep.folder, { job, kind, files: installer.privateFiles(job), now: new Date() });
    await installer.install(job).catch(async (error) => {
      await undo(); // An earlier job may stand, and needs its script.
      throw error;
    });
    for (const other of installers.local.filter((one) => one.kind !== kind)) {
      await other.remove(job.hash).catch((error: Error) => terminal.warn(`${other.kind}: ${oneLine(error.message)}`));
    }
  } finally {
    await lock.release();
  }
}

export const LOCK_WORDS = {
  whenOwn: 'Wait until it is done.',
  whenAlive: 'Wait until it is done, and call this again.',
  mode: 0o600,
};

const shownJob = (job: NightJob) => ({
  project: job.project,
  at: clockText(job.at),
  command: job.command,
  env: job.env,
  pinned: job.pinned,
  log: logPath(job),
});

function printed(job: NightJob, installer: Installer, { colors }: Terminal): [object, string[]] {
  const files = [...installer.privateFiles(job), ...installer.shared(job)];
  const lines = files.flatMap(({ path, text }) => [colors.bold(`== ${path}`), ...text.split(/\r?\n/)]);
  return [{ isScheduled: false, kind: installer.kind, ...shownJob(job), files }, lines];
}

function doneLines(job: NightJob, { kind }: Installer, flags: ScheduleFlags, { colors, called }: Terminal): string[] {
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
