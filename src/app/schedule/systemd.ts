import { existsSync } from 'node:fs';
import { lstat, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { failed, hashesOfFiles, type Installer, type Programs, removeOurs, type Site, writeOurs } from './installer.ts';
import {
  clockText,
  describeJob,
  type JobFile,
  markOf,
  type NightJob,
  pinnedText,
  posixScript,
  scriptPath,
} from './night-job.ts';

export const unitName = (hash: string) => `skillopt-sleep-${hash}`;

/** A service and the timer that starts it, for the user's own manager. */
export function systemdUnits(job: NightJob, folder: string): [service: JobFile, timer: JobFile] {
  const file = (ending: string, lines: readonly string[]) => ({
    path: `${folder}/${unitName(job.hash)}.${ending}`,
    text: [`# ${markOf(job.hash)}`, `# Made for: ${pinnedText(job)}.`, ...lines, ''].join('\n'),
  });
  const about = ['[Unit]', `Description=skillopt sleep: ${plainText(describeJob(job))}`, ''];
  return [
    file('service', [...about, '[Service]', 'Type=oneshot', `ExecStart=/bin/sh ${quoted(scriptPath(job))}`, 'Nice=10']),
    file('timer', [
      ...about,
      '[Timer]',
      `OnCalendar=*-*-* ${clockText(job.at)}:00`,
      '# A machine that was off or asleep catches up when it is back.',
      'Persistent=true',
      '',
      '[Install]',
      'WantedBy=timers.target',
    ]),
  ];
}

/** A percent sign begins a specifier; a backslash at the end would join the next line. */
const plainText = (text: string) => text.replaceAll('%', '%%').replaceAll('\\', '/');

const quoted = (text: string) =>
  `"${text.replace(/[\\"]/g, String.raw`\$&`).replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;

/** A timer of the user's own manager. */
export function systemd({ programs, home, configHome }: Site): Installer {
  const folder = join(configHome || join(home, '.config'), 'systemd', 'user');
  const control = (...args: string[]) => programs.run('systemctl', ['--user', ...args]);
  const remove = async (hash: string) => {
    const name = unitName(hash);
    const paths = [`${name}.timer`, `${name}.service`].map((file) => join(folder, file));
    if (!paths.some((path) => existsSync(path))) return false;
    const isManaged = programs.find('systemctl') !== undefined;
    if (isManaged) await control('disable', '--now', `${name}.timer`);
    for (const path of paths) await removeOurs(path, hash);
    await removeLink(join(folder, 'timers.target.wants', `${name}.timer`));
    if (isManaged) await control('daemon-reload');
    return true;
  };
  return {
    kind: 'systemd',
    isUnsure: false,
    privateFiles: (job) => [{ path: scriptPath(job), text: posixScript(job) }],
    shared: (job) => systemdUnits(job, folder),
    async install(job) {
      const units = systemdUnits(job, folder);
      const before = await Promise.all(units.map(({ path }) => readFile(path, 'utf8').catch(() => undefined)));
      for (const unit of units) await writeOurs(unit, job.hash);
      const timer = `${unitName(job.hash)}.timer`;
      for (const args of [['daemon-reload'], ['enable', timer], ['restart', timer]]) {
        const { isOk, stderr } = await control(...args);
        if (isOk) continue;
        await remove(job.hash);
        for (const [at, { path }] of units.entries()) {
          if (before[at] !== undefined) await writeOurs({ path, text: before[at] }, job.hash);
        }
        throw failed(`systemctl --user ${args.join(' ')}`, stderr);
      }
    },
    remove,
    list: () => hashesOfFiles(folder, (name) => /^skillopt-sleep-[0-9a-f]{20}\.(timer|service)$/.test(name)),
  };
}

/** Left when no manager answered. */
async function removeLink(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink()) await rm(path);
}

/** Why no manager of the user answers; undefined when one does. */
export async function whyNoManager(programs: Programs): Promise<string | undefined> {
  if (programs.find('systemctl') === undefined) return 'there is no systemctl';
  const { isOk, stderr } = await programs.run('systemctl', ['--user', 'show-environment']);
  return isOk ? undefined : stderr.split('\n')[0];
}
