import { lstatSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { isInside } from '../../agents/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine } from '../../core/text/index.ts';
import type { Notices } from '../../project/index.ts';
import { jobHash, type OpenSleep } from '../../sleep/index.ts';
import { makeFolderBelow, openStateFolder, takeLock } from '../../stores/index.ts';
import type { Place } from '../../transcripts/index.ts';
import type { NightLimits } from '../night/run-night.ts';
import type { NightCheck } from './check-night.ts';
import { cron, type Installer, openPrograms, systemd, whyNoManager } from './installers.ts';
import { forgetSchedule, keepSchedule, keptHashes } from './kept-schedule.ts';
import {
  type JobFile,
  jobOf,
  type NightJob,
  readClock,
  type ScheduleKind,
  schedulesFolder,
  trusted,
} from './night-job.ts';
import { launchd, windows } from './other-systems.ts';

type ScheduleOptions = {
  /** On the clock of this machine. Default: 03:17. */
  readonly at?: string | undefined;
  /** Default: what works on this system. */
  readonly kind?: ScheduleKind | undefined;
  /** At least one limit is needed here or in the settings. */
  readonly limits: NightLimits;
  /** Is notified why another kind than the usual one was chosen. */
  readonly onNote?: ((message: string) => void) | undefined;
};

export type PreparedJob = {
  readonly job: NightJob;
  readonly kind: ScheduleKind;
  readonly files: readonly JobFile[];
  readonly installer: Installer;
  readonly installers: Installers;
};

/** The nightly job of a project. Installs nothing. */
export async function prepareJob(sleep: OpenSleep, options: ScheduleOptions): Promise<PreparedJob> {
  const { at = '03:17', kind, limits, onNote } = options;
  const clock = readClock(at);
  requireCap(sleep, limits);
  if (lstatSync(sleep.project, { throwIfNoEntry: false }) === undefined)
    throw new SkillError('USAGE', `${sleep.project} does not exist`, { hint: 'Name the folder of a project.' });
  const installers = openInstallers(sleep.place, sleep.project);
  const installer = kind === undefined ? await chooseInstaller(installers, onNote) : installers.all[kind];
  const job = await jobOf(sleep, { limits, at: clock, isUnsure: installer.isUnsure });
  const files = [...installer.privateFiles(job), ...installer.shared(job)];
  return { job, kind: installer.kind, files, installer, installers };
}

/** A job that nobody watches needs a limit that the user chose. The default of a setting is not a choice. */
function requireCap({ origins }: OpenSleep, limits: NightLimits): void {
  const caps = [...Object.values(limits), origins.maxTokensPerNight];
  if (caps.some((cap) => cap !== undefined)) return;
  throw new SkillError('USAGE', 'a nightly job needs a limit that you choose, and there is none', {
    hint: 'Such as --max-minutes 30, --max-calls 300, --max-cost-usd 1 or --max-tokens-per-night 400000.',
  });
}

type Installers = {
  readonly all: Readonly<Record<ScheduleKind, Installer>>;
  /** Those of this system, the best first. */
  readonly local: readonly Installer[];
  readonly programs: ReturnType<typeof openPrograms>;
};

function openInstallers({ env, home, platform }: Place, project: string): Installers {
  const programs = openPrograms(trusted(env, project));
  const site = { programs, home, configHome: env.XDG_CONFIG_HOME };
  const all = { systemd: systemd(site), cron: cron(site), launchd: launchd(site), windows: windows(site) };
  if (platform === 'win32') return { all, programs, local: [all.windows] };
  return { all, programs, local: [platform === 'darwin' ? all.launchd : all.systemd, all.cron] };
}

async function chooseInstaller(
  { all, local: [best], programs }: Installers,
  onNote: ScheduleOptions['onNote'],
): Promise<Installer> {
  const why = best === all.systemd ? await whyNoManager(programs) : undefined;
  if (why === undefined) return best!;
  if (programs.find('crontab') !== undefined) {
    onNote?.(`cron is used: no systemd manager of yours answers (${why})`);
    return all.cron;
  }
  throw new SkillError('ENV_FAILED', `no systemd manager of yours answers (${why}), and there is no crontab`, {
    hint: 'Install cron, or see with --print --with cron what should be run every night.',
  });
}

/** Throws if this kind of job belongs to another system. */
export function requireLocal({ installer, installers: { local } }: PreparedJob): void {
  if (local.includes(installer)) return;
  const kinds = local.map(({ kind }) => kind).join(' or ');
  throw new SkillError('USAGE', `expected ${kinds} on this system, got ${installer.kind}`, {
    hint: 'Leave the kind out, or only print what would be installed.',
  });
}

/** Installs a job in place of the project's earlier one. Private files come first: no job may point to a missing file. */
export async function installJob(
  { folder, notices }: Pick<OpenSleep, 'folder' | 'notices'>,
  { job, kind, installer, installers }: PreparedJob,
): Promise<void> {
  await alone(folder, async () => {
    const undo = await keepSchedule(folder, { job, kind, files: installer.privateFiles(job) });
    await installer.install(job).catch(async (error) => {
      await undo(); // an earlier job may still be installed, and needs its script
      throw error;
    });
    for (const other of installers.local.filter((one) => one.kind !== kind)) {
      await other.remove(job.hash).catch((error: Error) => notices.warn(`${other.kind}: ${oneLine(error.message)}`));
    }
  });
}

type RemoveOptions = {
  readonly stateFolder: string;
  readonly place: Place;
  readonly project: string;
  /** Removes the jobs of every project. */
  readonly isAll: boolean;
  readonly notices: Notices;
};

/** Removes nightly jobs of ours, and nothing else. If one kind fails, the others are still removed. */
export async function removeJobs({ stateFolder, place, isAll, notices, ...options }: RemoveOptions) {
  const folder = await openStateFolder(stateFolder);
  const project = await realpath(options.project).catch(() => options.project);
  const { local } = openInstallers(place, project);
  return alone(folder, async () => {
    const removed: { kind: string; hash: string }[] = [];
    const failures: Error[] = [];
    for (const installer of local) {
      try {
        for (const hash of isAll ? await installer.list() : [jobHash(project)]) {
          if (await installer.remove(hash)) removed.push({ kind: installer.kind, hash });
        }
      } catch (error) {
        failures.push(error as Error);
      }
    }
    if (removed.length === 0 && failures[0] !== undefined) throw failures[0];
    for (const { message } of failures) notices.warn(oneLine(message));
    for (const hash of isAll ? await keptHashes(folder) : [jobHash(project)]) await forgetSchedule(folder, hash);
    return { project, removed };
  });
}

const LOCK_WORDS = {
  whenOwn: 'Wait until it is done.',
  whenAlive: 'Wait until it is done, and call this again.',
  mode: 0o600,
};

async function alone<Answer>(folder: string, work: () => Promise<Answer>): Promise<Answer> {
  await makeFolderBelow(folder, schedulesFolder(folder));
  const lock = await takeLock(`${schedulesFolder(folder)}/schedule.lock`, LOCK_WORDS);
  return work().finally(() => lock.release());
}

/** What would be missing at night: the job's own command checks, in the job's own environment. */
export async function findJobProblems({ job }: PreparedJob): Promise<NightCheck[]> {
  return [...ownProblems(job), ...(await checkJob(job)).filter(({ isOk }) => !isOk)];
}

/** Our program may be gone, or changed by an agent, by the next night. */
function ownProblems({ pinned, project }: NightJob): NightCheck[] {
  const cli = pinned.find(({ name }) => name === 'skillopt')!.path;
  const remedy = 'Install it for yourself: npm install --global skillopt';
  const problem = (detail: string) => [{ name: 'skillopt', isOk: false, detail, remedy }];
  if (/[\\/]_npx[\\/]/.test(cli)) return problem(`${cli} is in a cache that npx may empty`);
  return isInside(cli, project) ? problem(`${cli} lies inside the project, where an agent could change it`) : [];
}

async function checkJob({ command, env, project }: NightJob): Promise<NightCheck[]> {
  const [file = '', ...args] = command;
  const options = { cwd: project, env, extendEnv: false, reject: false, timeout: 300_000, stdin: 'ignore' } as const;
  const { execa } = await import('execa');
  const { stdout, stderr, shortMessage } = await execa(file, [...args, '--check'], options);
  try {
    return JSON.parse(stdout).checks;
  } catch {
    const detail = (stderr.trim() || shortMessage || 'it said nothing').slice(-1000);
    return [{ name: 'job', isOk: false, detail: `the night's command did not start: ${detail}` }];
  }
}
