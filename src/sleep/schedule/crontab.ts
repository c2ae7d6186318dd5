import { describeJob, hashesIn, markOf, type NightJob, scriptPath } from './night-job.ts';
import { shellQuoted } from './posix-script.ts';

/**
 * A crontab with the job in it: where it stood before, else at the end. Every other line stays as it is.
 *
 * The line comes round every hour, and the job itself knows whether a night is due. cron forgets what it missed, and
 * `@reboot` says nothing when a laptop was only asleep: there is no other way to catch up with cron alone.
 */
export function withCronJob(crontab: string, hash: string, ours: readonly string[]): string {
  const lines = linesOf(crontab);
  const at = lines.findIndex((line) => isOurs(line, hash));
  const others = lines.filter((line) => !isOurs(line, hash));
  const before = others.slice(0, at === -1 ? others.length : at);
  return [...before.map(ended), ...ours, ...others.slice(before.length)].join('');
}

/** Without the lines of a job, or of all jobs. */
export function withoutCronJob(crontab: string, hash?: string): string {
  return linesOf(crontab)
    .filter((line) => !isOurs(line, hash))
    .join('');
}

/** Every line names its project, so that a line which somebody put between ours is told from them. */
export function cronLines(job: NightJob): string[] {
  const mark = `# ${markOf(job.hash)}`;
  // A percent sign ends the command for cron, unless it is escaped.
  const command = `/bin/sh ${shellQuoted(scriptPath(job))}`.replaceAll('%', String.raw`\%`);
  return [`${mark} begin: ${describeJob(job)}\n`, `${job.at.minute} * * * * ${command} ${mark}\n`, `${mark} end\n`];
}

export const cronHashes = (crontab: string): string[] =>
  hashesIn(
    linesOf(crontab)
      .filter((line) => isOurs(line))
      .join(''),
  );

function isOurs(line: string, hash = '[0-9a-f]{20}'): boolean {
  const mark = `# skillopt-sleep ${hash}`;
  return new RegExp(`^${mark} (begin: .*|end)\\s*$|^.+ ${mark}\\s*$`).test(line);
}

/** Each with its line break. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const ended = (line: string) => (line.endsWith('\n') ? line : `${line}\n`);
