import { lstatSync } from 'node:fs';
import { readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isInside } from '../../agents/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine, parseJson } from '../../core/text/index.ts';
import type { Notices } from '../../project/index.ts';
import { jobHash, type OpenSleep } from '../../sleep/index.ts';
import {
  createPrivate,
  isMissing,
  makeFolderBelow,
  openStateFolder,
  readPrivate,
  takeLock,
  writePrivate,
} from '../../stores/index.ts';
import type { Place } from '../../transcripts/index.ts';
import type { Check } from '../examine-agents.ts';
import type { NightLimits } from '../night/plan-night.ts';
import { cron, type Installer, openPrograms, systemd, whyNoManager } from './installers.ts';
import {
  type ClockTime,
  clockText,
  type JobFile,
  jobOf,
  logPath,
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
  const hint = 'Such as --max-minutes 30, --max-calls 300, --max-cost-usd 1 or --max-tokens-per-night 400000.';
  throw new SkillError('USAGE', 'a nightly job needs a limit that you choose, and there is none', { hint });
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

async function chooseInstaller({ all, local: [best], programs }: Installers, onNote: ScheduleOptions['onNote']) {
  const why = best === all.systemd ? await whyNoManager(programs) : undefined;
  if (why === undefined) return best!;
  if (programs.find('crontab') !== undefined) {
    onNote?.(`cron is used: no systemd manager of yours answers (${why})`);
    return all.cron;
  }
  const hint = 'Install cron, or see with --print --with cron what should be run every night.';
  throw new SkillError('ENV_FAILED', `no systemd manager of yours answers (${why}), and there is no crontab`, { hint });
}

/** Throws if this kind of job belongs to another system. */
export function requireLocal({ installer, installers: { local } }: PreparedJob): void {
  if (local.includes(installer)) return;
  const kinds = local.map(({ kind }) => kind).join(' or ');
  const hint = 'Leave the kind out, or only print what would be installed.';
  throw new SkillError('USAGE', `expected ${kinds} on this system, got ${installer.kind}`, { hint });
}

/** Installs a job in place of the project's earlier one. Private files come first: no job may point to a missing file. */
export async function installJob({ folder, notices }: OpenSleep, prepared: PreparedJob): Promise<void> {
  const { job, kind, installer, installers } = prepared;
  await alone(folder, async () => {
    const undo = await keepSchedule(folder, prepared);
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
export async function findJobProblems({ job }: PreparedJob): Promise<Check[]> {
  return [...ownProblems(job), ...(await checkJob(job)).filter(({ isOk }) => !isOk)];
}

/** Our program may be gone, or changed by an agent, by the next night. */
function ownProblems({ pinned, project }: NightJob): Check[] {
  const cli = pinned.find(({ name }) => name === 'skillopt')!.path;
  const remedy = 'Install it for yourself: npm install --global skillopt';
  const problem = (detail: string) => [{ name: 'skillopt', isOk: false, detail, remedy }];
  if (/[\\/]_npx[\\/]/.test(cli)) return problem(`${cli} is in a cache that npx may empty`);
  return isInside(cli, project) ? problem(`${cli} lies inside the project, where an agent could change it`) : [];
}

async function checkJob({ command, env, project }: NightJob): Promise<Check[]> {
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

/** What is kept of a job, for `status` and `unschedule`. */
const KeptSchedule = z.object({
  project: z.string(),
  at: z.string(),
  kind: z.enum(['systemd', 'cron', 'launchd', 'windows']),
  pinned: z.array(z.object({ name: z.string(), path: z.string(), version: z.string() })),
});
export type KeptSchedule = z.infer<typeof KeptSchedule>;

/**
 * Writes the private files of a job, and returns a function that restores the former ones. The first night is the next one:
 * what was due before is not caught up.
 */
async function keepSchedule(stateFolder: string, { job, kind, installer }: PreparedJob) {
  await makeFolderBelow(stateFolder, job.folder);
  await createPrivate(logPath(job));
  const { project, at, pinned, folder, hash } = job;
  const kept: KeptSchedule = { project, at: clockText(at), kind, pinned: [...pinned] };
  const all = [
    ...installer.privateFiles(job),
    { path: join(folder, `${hash}.last`), text: new Date().toISOString() },
    { path: join(folder, `${hash}.json`), text: `${JSON.stringify(kept, null, 1)}\n` },
  ];
  const before = await Promise.all(all.map(({ path }) => readPrivate(path)));
  for (const { path, text } of all) await writePrivate(path, text);
  return async () => {
    for (const [at, { path }] of all.entries()) {
      const text = before[at];
      await (text === undefined ? rm(path, { force: true }) : writePrivate(path, text));
    }
  };
}

/** The schedule of a project, if there is one that can be read. */
export async function readSchedule(stateFolder: string, project: string): Promise<KeptSchedule | undefined> {
  const text = await readPrivate(join(schedulesFolder(stateFolder), `${jobHash(project)}.json`)).catch(() => undefined);
  return text === undefined ? undefined : KeptSchedule.safeParse(parseJson(text)).data;
}

/** Hashes of the projects that have something kept. */
async function keptHashes(stateFolder: string): Promise<string[]> {
  const names = await namesIn(schedulesFolder(stateFolder));
  return names.filter((name) => /^[0-9a-f]{20}\.json$/.test(name)).map((name) => name.slice(0, 20));
}

/** Removes everything but the log. */
async function forgetSchedule(stateFolder: string, hash: string): Promise<void> {
  const folder = schedulesFolder(stateFolder);
  const names = (await namesIn(folder)).filter((name) => name.startsWith(`${hash}.`) && !/\.log(\.old)?$/.test(name));
  for (const name of names) await rm(join(folder, name), { force: true });
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error) => (isMissing(error) ? [] : Promise.reject(error)));

/** The last moment, up to now, at which a clock showed this time. */
export function lastDue(now: Date, { hour, minute }: ClockTime): Date {
  const onDay = (day: number) => new Date(now.getFullYear(), now.getMonth(), day, hour, minute);
  const today = onDay(now.getDate());
  return today <= now ? today : onDay(now.getDate() - 1);
}

/** Whether no job of the project was started since this time last passed. If so, records that this one is. */
export async function takeTurn(stateFolder: string, project: string, at: ClockTime, now: Date): Promise<boolean> {
  const path = join(schedulesFolder(stateFolder), `${jobHash(project)}.last`);
  const last = Date.parse((await readPrivate(path)) ?? '');
  if (last >= lastDue(now, at).getTime() && last <= now.getTime()) return false;
  await makeFolderBelow(stateFolder, schedulesFolder(stateFolder));
  await writePrivate(path, now.toISOString());
  return true;
}
