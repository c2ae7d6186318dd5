import { SkillError } from '../../core/contracts/index.ts';
import type { Place } from '../../transcripts/index.ts';
import { cron } from './cron.ts';
import { type Installer, openPrograms, type Programs, trusted } from './installer.ts';
import type { ScheduleKind } from './night-job.ts';
import { launchd, windows } from './other-systems.ts';
import { systemd, whyNoManager } from './systemd.ts';

export type Installers = {
  readonly all: Readonly<Record<ScheduleKind, Installer>>;
  /** Those of this system, the best first. */
  readonly local: readonly Installer[];
  readonly programs: Programs;
};

export function openInstallers({ env, home, platform }: Place, project: string): Installers {
  const programs = openPrograms(trusted(env, project));
  const site = { programs, home, configHome: env.XDG_CONFIG_HOME };
  const all = { systemd: systemd(site), cron: cron(site), launchd: launchd(site), windows: windows(site) };
  return { all, programs, local: localKinds(platform).map((kind) => all[kind]) };
}

function localKinds(platform: string): ScheduleKind[] {
  if (platform === 'win32') return ['windows'];
  return platform === 'darwin' ? ['launchd', 'cron'] : ['systemd', 'cron'];
}

/** The one that was asked for, or the best that works here. */
export async function chooseInstaller(
  { all, local, programs }: Installers,
  wanted: ScheduleKind | undefined,
  note: (message: string) => void,
): Promise<Installer> {
  if (wanted !== undefined) return all[wanted];
  const [first] = local;
  if (first?.kind !== 'systemd') return first!;
  const why = await whyNoManager(programs);
  if (why === undefined) return first;
  if (programs.find('crontab') !== undefined) {
    note(`cron is used: no systemd manager of yours answers (${why})`);
    return all.cron;
  }
  throw new SkillError('ENV_FAILED', `no systemd manager of yours answers (${why}), and there is no crontab`, {
    hint: 'Install cron, or see with --print --with cron what should be run every night.',
  });
}
