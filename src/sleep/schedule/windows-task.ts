import { win32 } from 'node:path';
import { xmlText } from './launchd-plist.ts';
import { clockText, describeJob, type JobFile, markOf, type NightJob, pinnedText } from './night-job.ts';

export const taskName = (hash: string) => `SkillOpt-Sleep-${hash}`;

const fileOf = ({ folder, hash }: NightJob, ending: string) => win32.join(folder, `${hash}.${ending}`);

/** The task for the Task Scheduler, without an encoding: it is handed over as text. */
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

/** What the task runs: the job's variables and no others, then the program. */
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

/** PowerShell takes typographic quotation marks for quotes as well. Two of a kind are one in the text. */
export const powershellQuoted = (text: string): string => `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`;

/** Windows PowerShell hands words with quotation marks on as they are; the program needs them escaped. */
const nativeWord = (word: string) => word.replace(/(?<!\\)(\\*)"/g, String.raw`$1$1\"`);
