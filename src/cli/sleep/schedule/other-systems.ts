import { join } from 'node:path';
import {
  hashesIn,
  launchdPlist,
  launchLabel,
  markOf,
  posixScript,
  powershellQuoted,
  scriptPath,
  taskName,
  windowsScript,
  windowsTask,
} from '../../../sleep/index.ts';
import { failed, hashesOfFiles, type Installer, removeOurs, type Site, writeOurs } from './installer.ts';

/** macOS. Its texts are tested, the calls of launchctl were never tried on a Mac. */
export function launchd({ programs, home }: Site): Installer {
  const folder = join(home, 'Library', 'LaunchAgents');
  const user = `gui/${process.getuid?.() ?? 0}`;
  const stop = (hash: string) => programs.run('launchctl', ['bootout', `${user}/${launchLabel(hash)}`]);
  return {
    kind: 'launchd',
    isUnsure: true,
    privateFiles: (job) => [{ path: scriptPath(job), text: posixScript(job) }],
    shared: (job) => [launchdPlist(job, folder)],
    async install(job) {
      const plist = launchdPlist(job, folder);
      await writeOurs(plist, job.hash);
      await stop(job.hash); // Fails when it was not loaded.
      const { isOk, stderr } = await programs.run('launchctl', ['bootstrap', user, plist.path]);
      if (!isOk) throw failed('launchctl bootstrap', stderr);
    },
    async remove(hash) {
      const isRemoved = await removeOurs(join(folder, `${launchLabel(hash)}.plist`), hash);
      if (isRemoved && programs.find('launchctl') !== undefined) await stop(hash);
      return isRemoved;
    },
    list: () => hashesOfFiles(folder, (name) => name.startsWith(launchLabel(''))),
  };
}

/** Windows. Its texts are tested, the calls of PowerShell were never tried on Windows. */
export function windows({ programs }: Site): Installer {
  const ask = (command: string) => programs.run('powershell', ['-NoProfile', '-NonInteractive', '-Command', command]);
  const exported = async (hash: string) =>
    (await ask(`Export-ScheduledTask -TaskName '${taskName(hash)}' -ErrorAction SilentlyContinue`)).stdout;
  return {
    kind: 'windows',
    isUnsure: false,
    privateFiles: (job) => [windowsTask(job), windowsScript(job)],
    shared: (job) => [{ path: taskName(job.hash), text: windowsTask(job).text }],
    async install(job) {
      const there = await exported(job.hash);
      if (there.trim() !== '' && !there.includes(markOf(job.hash)))
        throw failed(`the task ${taskName(job.hash)}`, 'it is there, and not ours');
      const xml = `(Get-Content -Raw -Encoding UTF8 -LiteralPath ${powershellQuoted(windowsTask(job).path)})`;
      const { isOk, stderr } = await ask(`Register-ScheduledTask -TaskName '${taskName(job.hash)}' -Xml ${xml} -Force`);
      if (!isOk) throw failed('Register-ScheduledTask', stderr);
    },
    async remove(hash) {
      if (!(await exported(hash)).includes(markOf(hash))) return false;
      const { isOk, stderr } = await ask(`Unregister-ScheduledTask -TaskName '${taskName(hash)}' -Confirm:$false`);
      if (!isOk) throw failed('Unregister-ScheduledTask', stderr);
      return true;
    },
    list: async () =>
      hashesIn((await ask(`Get-ScheduledTask -TaskName '${taskName('*')}' | ForEach-Object Description`)).stdout),
  };
}
