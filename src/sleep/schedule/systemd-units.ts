import { clockText, describeJob, type JobFile, markOf, type NightJob, pinnedText, scriptPath } from './night-job.ts';

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
