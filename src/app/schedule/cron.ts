import { SkillError } from '../../core/contracts/index.ts';
import { failed, type Installer, type Programs, type Site } from './installer.ts';
import { describeJob, hashesIn, markOf, type NightJob, posixScript, scriptPath, shellQuoted } from './night-job.ts';

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

export function cron({ programs }: Site): Installer {
  return {
    kind: 'cron',
    isUnsure: true,
    privateFiles: (job) => [{ path: scriptPath(job), text: posixScript(job) }],
    shared: (job) => [{ path: 'crontab', text: cronLines(job).join('') }],
    install: async (job) => {
      await change(programs, (before) => withCronJob(before, job.hash, cronLines(job).map(asBytes)));
    },
    remove: (hash) => change(programs, (before) => withoutCronJob(before, hash)),
    list: async () => cronHashes(await readCrontab(programs)),
  };
}

/** A crontab is bytes, one a character; ours are UTF-8. */
const asBytes = (line: string) => Buffer.from(line).toString('latin1');

/** Whether something was changed. What was there is put back when the new one was not taken as it is. */
async function change(programs: Programs, changed: (before: string) => string): Promise<boolean> {
  if (programs.find('crontab') === undefined) return false;
  const before = await readCrontab(programs);
  const after = changed(before);
  if (after === before) return false;
  await writeCrontab(programs, after);
  if ((await readCrontab(programs)) === after) return true;
  await writeCrontab(programs, before);
  throw failed('crontab', 'it did not take the new crontab as it was given, and has the old one again');
}

/** Nothing is written over what cannot be read: it would be lost. */
async function readCrontab(programs: Programs): Promise<string> {
  const { isOk, stdout, stderr } = await programs.run('crontab', ['-l']);
  if (isOk) return stdout;
  if (/^(crontab: )?no crontab for /m.test(stderr)) return '';
  throw new SkillError('ENV_FAILED', `your crontab cannot be read, and so nothing was changed: ${stderr}`, {
    hint: 'See what crontab -l says, or choose another way with --with.',
  });
}

async function writeCrontab(programs: Programs, text: string): Promise<void> {
  const { isOk, stderr } =
    text === '' ? await programs.run('crontab', ['-r']) : await programs.run('crontab', ['-'], text);
  if (!isOk) throw failed('crontab took no new crontab', stderr);
}
