import { join, sep } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine } from '../../core/text/index.ts';

/** A time of the day, on the clock of the machine. */
export type ClockTime = { readonly hour: number; readonly minute: number };

/** A program that a job calls, as it was when the job was made. */
export type PinnedProgram = { readonly name: string; readonly path: string; readonly version: string };

/** One nightly run of one project. */
export type NightJob = {
  readonly project: string;
  readonly hash: string;
  readonly at: ClockTime;
  /** Where its script and its log are: in the private state folder. */
  readonly folder: string;
  /** The program and its arguments. Every path is absolute and real. */
  readonly command: readonly string[];
  /** All variables that it gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly pinned: readonly PinnedProgram[];
};

export type ScheduleKind = 'systemd' | 'cron' | 'launchd' | 'windows';

/** A file that a job needs, or, for cron, lines of a crontab. */
export type JobFile = { readonly path: string; readonly text: string };

/** Stands in everything that is ours. What lacks it is somebody else's and stays. */
export const markOf = (hash: string) => `skillopt-sleep ${hash}`;

export function hashesIn(text: string): string[] {
  return [...new Set([...text.matchAll(/skillopt-sleep ([0-9a-f]{20})\b/g)].map(([, hash]) => hash!))];
}

export const scriptPath = ({ folder, hash }: NightJob) => join(folder, `${hash}.sh`);
export const logPath = ({ folder, hash }: Pick<NightJob, 'folder' | 'hash'>) => join(folder, `${hash}.log`);

/** `a night for /home/ann/shop at 03:17` */
export const describeJob = ({ project, at }: NightJob) => `a night for ${oneLine(project)} at ${clockText(at)}`;

/** `node 22.1.0, skillopt 0.1.0` */
export const pinnedText = ({ pinned }: Pick<NightJob, 'pinned'>) =>
  oneLine(pinned.map(({ name, version }) => `${name} ${version}`).join(', '));

/** Throws `USAGE` unless both are whole numbers that a clock shows. */
export function clockTime(hour: unknown, minute: unknown): ClockTime {
  if (isBelow(hour, 24) && isBelow(minute, 60)) return { hour, minute };
  throw wrongTime(`hour ${JSON.stringify(hour) ?? hour}, minute ${JSON.stringify(minute) ?? minute}`);
}

const isBelow = (value: unknown, limit: number): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < limit;

export function readClock(text: string): ClockTime {
  const [, hour, minute] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? [];
  if (hour === undefined) throw wrongTime(JSON.stringify(text));
  return clockTime(Number(hour), Number(minute));
}

const wrongTime = (got: string) =>
  new SkillError('USAGE', `expected a time from 00:00 to 23:59, got ${got}`, { hint: 'Such as 03:17.' });

export const clockText = ({ hour, minute }: ClockTime) =>
  `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;

/** The last moment, up to now, at which a clock showed this time. */
export function lastDue(now: Date, { hour, minute }: ClockTime): Date {
  const onDay = (day: number) => new Date(now.getFullYear(), now.getMonth(), day, hour, minute);
  const today = onDay(now.getDate());
  return today <= now ? today : onDay(now.getDate() - 1);
}

/** Throws for a job that cannot be written down so that every program reads the same from it. */
export function requireWritable(job: NightJob): NightJob {
  const broken = [job.project, job.folder].find((path) => /\p{Cc}/u.test(path));
  if (broken !== undefined) throw unfit(`a path without control characters, got ${JSON.stringify(broken)}`);
  // env takes the first word without `=` for the program.
  if (sep === '/' && job.command[0]!.includes('='))
    throw unfit(`a program whose path has no "=", got ${job.command[0]}`);
  const hasNul = [...job.command, ...Object.values(job.env)].some((word) => word.includes('\0'));
  if (hasNul) throw unfit('texts without the character U+0000');
  return job;
}

const unfit = (expected: string) =>
  new SkillError('CONFIG_INVALID', `a nightly job needs ${expected}`, { hint: 'Rename or move it.' });

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
