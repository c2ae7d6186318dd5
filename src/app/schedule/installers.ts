import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { findBinary } from '../../agents/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import type { Environment } from '../../project/index.ts';
import { isMissing, syncFolder, writeSynced } from '../../stores/index.ts';
import {
  clockText,
  describeJob,
  hashesIn,
  type JobFile,
  markOf,
  type NightJob,
  pinnedText,
  posixScript,
  type ScheduleKind,
  scriptPath,
  shellQuoted,
} from './night-job.ts';

export type Installer = {
  readonly kind: ScheduleKind;
  /** Whether it may start a job that is not due, so that the job has to check. */
  readonly isUnsure: boolean;
  /** The job's files in the private state folder. */
  privateFiles(job: NightJob): readonly JobFile[];
  /** What is written where other programs keep things too. */
  shared(job: NightJob): readonly JobFile[];
  install(job: NightJob): Promise<void>;
  /** Removes the job of a project, and returns whether there was one. */
  remove(hash: string): Promise<boolean>;
  /** Hashes of the projects that have a job. */
  list(): Promise<string[]>;
};

export type Site = { readonly programs: Programs; readonly home: string; readonly configHome?: string | undefined };

type Programs = ReturnType<typeof openPrograms>;

export function openPrograms(env: Environment) {
  const find = (name: string) => findBinary(name, env);
  return {
    find,
    /** Texts are bytes, one per character: a crontab need not be UTF-8. */
    async run(name: string, args: readonly string[], input = '') {
      const file = find(name);
      const hint = 'Install it, or choose another way with --with; --print shows what would be installed.';
      if (file === undefined) throw new SkillError('ENV_FAILED', `there is no program ${name} here`, { hint });
      const { execa } = await import('execa');
      const result = await execa(file, args, {
        ...{ extendEnv: false, reject: false, encoding: 'buffer', stripFinalNewline: false, timeout: 60_000 },
        input: Buffer.from(input, 'latin1'),
        env: { ...env, LC_ALL: 'C', LANGUAGE: '' }, // some English messages are understood below
      });
      const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('latin1');
      const stderr = text(result.stderr).trim() || (result.shortMessage ?? '');
      return { isOk: !result.failed, stdout: text(result.stdout), stderr };
    },
  };
}

/** Writes a file of ours, all or nothing. Throws if there is a file that is not ours. */
export async function writeOurs({ path, text }: JobFile, hash: string): Promise<void> {
  await requireOurs(path, hash);
  await mkdir(dirname(path), { recursive: true });
  const draft = join(dirname(path), `.${basename(path)}.tmp`);
  await rm(draft, { force: true });
  await writeSynced(draft, text, 0o644);
  await rename(draft, path);
  await syncFolder(dirname(path));
}

export async function removeOurs(path: string, hash: string): Promise<boolean> {
  const isThere = await requireOurs(path, hash);
  if (isThere) await rm(path);
  return isThere;
}

async function requireOurs(path: string, hash: string): Promise<boolean> {
  const found = await lstat(path).catch((error) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (found === undefined) return false;
  if (found.isFile() && (await readFile(path, 'utf8')).includes(markOf(hash))) return true;
  const hint = 'It stays as it is. Move it away if it is not needed.';
  throw new SkillError('USAGE', `${path} is not ours: it lacks the words ${markOf(hash)}`, { hint });
}

export async function hashesOfFiles(folder: string, isName: (name: string) => boolean): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const texts = names.filter(isName).map((name) => readFile(join(folder, name), 'utf8').catch(() => ''));
  return [...new Set((await Promise.all(texts)).flatMap((text) => hashesIn(text)))];
}

export const failed = (what: string, why: string) =>
  new SkillError('ENV_FAILED', `${what}: ${why}`, { hint: 'Choose another way with --with, or see --print.' });

const unitName = (hash: string) => `skillopt-sleep-${hash}`;

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
    const link = join(folder, 'timers.target.wants', `${name}.timer`); // left when no manager answered
    if ((await lstat(link).catch(() => undefined))?.isSymbolicLink()) await rm(link);
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

/** Why no manager of the user answers; undefined when one does. */
export async function whyNoManager(programs: Programs): Promise<string | undefined> {
  if (programs.find('systemctl') === undefined) return 'there is no systemctl';
  const { isOk, stderr } = await programs.run('systemctl', ['--user', 'show-environment']);
  return isOk ? undefined : stderr.split('\n')[0];
}

/**
 * The cron job runs every hour and checks itself whether a night is due. cron forgets what it missed, and `@reboot` does not
 * start after a sleep: there is no other way to catch up with cron alone.
 */
export function cron({ programs }: Site): Installer {
  return {
    kind: 'cron',
    isUnsure: true,
    privateFiles: (job) => [{ path: scriptPath(job), text: posixScript(job) }],
    shared: (job) => [{ path: 'crontab', text: cronLines(job).join('') }],
    install: async (job) => {
      // A crontab is bytes, one per character; ours are UTF-8.
      const lines = cronLines(job).map((line) => Buffer.from(line).toString('latin1'));
      await change(programs, (before) => withCronJob(before, job.hash, lines));
    },
    remove: (hash) => change(programs, (before) => withoutCronJob(before, hash)),
    list: async () => cronHashes(await readCrontab(programs)),
  };
}

/** A crontab with the job in it: where it was before, else at the end. Every other line stays as it is. */
export function withCronJob(crontab: string, hash: string, ours: readonly string[]): string {
  const lines = linesOf(crontab);
  const at = lines.findIndex((line) => isOurs(line, hash));
  const others = lines.filter((line) => !isOurs(line, hash));
  const before = others.slice(0, at === -1 ? others.length : at);
  const ended = before.map((line) => (line.endsWith('\n') ? line : `${line}\n`));
  return [...ended, ...ours, ...others.slice(before.length)].join('');
}

export const withoutCronJob = (crontab: string, hash?: string): string =>
  linesOf(crontab)
    .filter((line) => !isOurs(line, hash))
    .join('');

/** Every line names its project, so that a foreign line between ours is recognized. */
export function cronLines(job: NightJob): string[] {
  const mark = `# ${markOf(job.hash)}`;
  // A percent sign ends the command for cron, unless it is escaped.
  const command = `/bin/sh ${shellQuoted(scriptPath(job))}`.replaceAll('%', String.raw`\%`);
  return [`${mark} begin: ${describeJob(job)}\n`, `${job.at.minute} * * * * ${command} ${mark}\n`, `${mark} end\n`];
}

export const cronHashes = (crontab: string): string[] => [
  ...new Set(linesOf(crontab).flatMap((line) => (isOurs(line) ? hashesIn(line) : []))),
];

function isOurs(line: string, hash = '[0-9a-f]{20}'): boolean {
  const mark = `# skillopt-sleep ${hash}`;
  return new RegExp(`^${mark} (begin: .*|end)\\s*$|^.+ ${mark}\\s*$`).test(line);
}

const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Returns whether something was changed. Restores the old crontab if the new one was not taken as it is. */
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

/** An unreadable crontab is never overwritten: it would be lost. */
async function readCrontab(programs: Programs): Promise<string> {
  const { isOk, stdout, stderr } = await programs.run('crontab', ['-l']);
  if (isOk) return stdout;
  if (/^(crontab: )?no crontab for /m.test(stderr)) return '';
  const hint = 'See what crontab -l says, or choose another way with --with.';
  throw new SkillError('ENV_FAILED', `your crontab cannot be read, and so nothing was changed: ${stderr}`, { hint });
}

async function writeCrontab(programs: Programs, text: string): Promise<void> {
  const { isOk, stderr } = await programs.run('crontab', [text === '' ? '-r' : '-'], text);
  if (!isOk) throw failed('crontab took no new crontab', stderr);
}
