import { describeJob, logPath, markOf, type NightJob, pinnedText } from './night-job.ts';

/** A night's log is some thousand bytes. */
const LONGEST_LOG = 1_000_000;

/**
 * The job as a script, so that crontab, unit and plist hold one path each: lines of a crontab may not be longer than about
 * a thousand bytes, and each of the three quotes in its own way. The program gets the job's variables and no others.
 */
export function posixScript(job: NightJob): string {
  const log = shellQuoted(logPath(job));
  const variables = Object.entries(job.env).map(([name, value]) => `${name}=${shellQuoted(value)}`);
  return [
    '#!/bin/sh',
    `# ${markOf(job.hash)}: ${describeJob(job)}.`,
    '# Made by "skillopt sleep schedule"; "skillopt sleep unschedule" takes it away.',
    `# Made for: ${pinnedText(job)}.`,
    'umask 077',
    `if [ -f ${log} ] && [ "$(wc -c < ${log})" -gt ${LONGEST_LOG} ]; then mv -f ${log} ${shellQuoted(`${logPath(job)}.old`)}; fi`,
    `exec >> ${log} 2>&1`,
    `cd ${shellQuoted(job.project)} || exit 1`,
    `exec ${['/usr/bin/env -i', ...variables, ...job.command.map(shellQuoted)].join(' \\\n  ')}`,
    '',
  ].join('\n');
}

/** One word for every POSIX shell, whatever is in it. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
