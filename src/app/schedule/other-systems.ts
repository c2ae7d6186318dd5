import { join, win32 } from 'node:path';
import { failed, hashesOfFiles, type Installer, removeOurs, type Site, writeOurs } from './installers.ts';
import {
  clockText,
  describeJob,
  hashesIn,
  type JobFile,
  markOf,
  type NightJob,
  pinnedText,
  posixScript,
  scriptPath,
} from './night-job.ts';

const launchLabel = (hash: string) => `com.skillopt.sleep.${hash}`;

/**
 * An agent of launchd. A Mac that was asleep starts it when it wakes up. For a Mac that was off it is started at the login too,
 * and the job itself checks whether a night is due.
 */
export function launchdPlist(job: NightJob, folder: string): JobFile {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${markOf(job.hash)}: ${inComment(describeJob(job))}. Made for: ${inComment(pinnedText(job))}. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${launchLabel(job.hash)}</string>
  <key>ProgramArguments</key>
  <array>
    <string>/bin/sh</string>
    <string>${xmlText(scriptPath(job))}</string>
  </array>
  <key>StartCalendarInterval</key>
  <dict>
    <key>Hour</key>
    <integer>${job.at.hour}</integer>
    <key>Minute</key>
    <integer>${job.at.minute}</integer>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
`;
  return { path: `${folder}/${launchLabel(job.hash)}.plist`, text };
}

const xmlText = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;');

/** Two dashes would end the comment. */
const inComment = (text: string) => xmlText(text).replace(/-(?=-)|-$/g, '- ');

export const taskName = (hash: string) => `SkillOpt-Sleep-${hash}`;

const fileOf = ({ folder, hash }: NightJob, ending: string) => win32.join(folder, `${hash}.${ending}`);

/** The task for the Task Scheduler. It names no encoding, because it is passed as text. */
export function windowsTask(job: NightJob): JobFile {
  const script = `-NoProfile -NonInteractive -WindowStyle Hidden -ExecutionPolicy Bypass -File "${fileOf(job, 'ps1')}"`;
  const text = `<?xml version="1.0"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>${markOf(job.hash)}: ${xmlText(describeJob(job))}. Made for: ${xmlText(pinnedText(job))}.</Description>
  </RegistrationInfo>
  <Triggers>
    <CalendarTrigger>
      <StartBoundary>2026-01-01T${clockText(job.at)}:00</StartBoundary>
      <ScheduleByDay>
        <DaysInterval>1</DaysInterval>
      </ScheduleByDay>
    </CalendarTrigger>
  </Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>true</DisallowStartIfOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT12H</ExecutionTimeLimit>
  </Settings>
  <Actions>
    <Exec>
      <Command>powershell.exe</Command>
      <Arguments>${xmlText(script)}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
  return { path: fileOf(job, 'xml'), text };
}

/** What the task runs: it sets the job's variables and no others, then starts the program. */
export function windowsScript(job: NightJob): JobFile {
  const [program = '', ...words] = job.command;
  const text = [
    `# ${markOf(job.hash)}: ${describeJob(job)}. Made for: ${pinnedText(job)}.`,
    'Get-ChildItem Env: | ForEach-Object { Remove-Item -LiteralPath ("Env:" + $_.Name) }',
    ...Object.entries(job.env).map(([name, value]) => `$env:${name} = ${powershellQuoted(value)}`),
    `Set-Location -LiteralPath ${powershellQuoted(job.project)} -ErrorAction Stop`,
    `& ${powershellQuoted(program)} @(${words.map((word) => powershellQuoted(nativeWord(word))).join(', ')}) *>> ${powershellQuoted(fileOf(job, 'log'))}`,
    'exit $LASTEXITCODE',
    '',
  ].join('\r\n');
  // Windows PowerShell reads a script as UTF-8 only when it begins with this.
  return { path: fileOf(job, 'ps1'), text: `\uFEFF${text}` };
}

/** PowerShell treats typographic quotation marks as quotes, too. A doubled one stands for itself. */
export const powershellQuoted = (text: string): string => `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`;

/** Windows PowerShell passes quotation marks on as they are; the program needs them escaped. */
const nativeWord = (word: string) => word.replace(/(?<!\\)(\\*)"/g, String.raw`$1$1\"`);

/** macOS. Its texts are tested; the calls of launchctl were never tried on a Mac. */
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
      await stop(job.hash); // fails if it was not loaded
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

/** Windows. Its texts are tested; the calls of PowerShell were never tried on Windows. */
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
