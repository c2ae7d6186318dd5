import { lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { execa } from 'execa';
import { findBinary, isForeign } from '../../agents/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { isMissing, syncFolder, writeSynced } from '../../stores/index.ts';
import { hashesIn, type JobFile, markOf, type NightJob, type ScheduleKind } from './night-job.ts';

type Environment = Readonly<Record<string, string | undefined>>;

type Finished = { readonly isOk: boolean; readonly stdout: string; readonly stderr: string };

/** The programs of the system that schedule things. */
export type Programs = {
  find(name: string): string | undefined;
  /** Texts are bytes, one a character: what a crontab holds need not be UTF-8. */
  run(name: string, args: readonly string[], input?: string): Promise<Finished>;
};

export function openPrograms(env: Environment): Programs {
  const find = (name: string) => findBinary(name, env);
  return {
    find,
    async run(name, args, input = '') {
      const file = find(name);
      if (file === undefined) throw notHere(name);
      const result = await execa(file, args, { ...FIXED, input: Buffer.from(input, 'latin1'), env: asked(env) });
      const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('latin1');
      const stderr = text(result.stderr).trim() || (result.shortMessage ?? '');
      return { isOk: !result.failed, stdout: text(result.stdout), stderr };
    },
  };
}

const FIXED = {
  extendEnv: false,
  reject: false,
  encoding: 'buffer',
  stripFinalNewline: false,
  timeout: 60_000,
} as const;

/** In English: some of what they say is understood. */
const asked = (env: Environment) => ({ ...env, LC_ALL: 'C', LANGUAGE: '' });

const notHere = (name: string) =>
  new SkillError('ENV_FAILED', `there is no program ${name} here`, {
    hint: 'Install it, or choose another way with --with; --print shows what would be installed.',
  });

/**
 * The variables with a search path on which nothing lies that a project brings along: no relative entry, no folder of the
 * project, no `node_modules/.bin`. A program from there would run every night with the person's sign-in.
 */
export function trusted(env: Environment, project: string): Environment {
  const folders = (env.PATH ?? env.Path ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isForeign(folder, [project]));
  return { ...env, PATH: folders.join(delimiter) };
}

/** One way to have a job run every night. */
export type Installer = {
  readonly kind: ScheduleKind;
  /** Whether it may start a job that is not due, so that the job has to look. */
  readonly isUnsure: boolean;
  /** The job's files in the private state folder. */
  privateFiles(job: NightJob): readonly JobFile[];
  /** What is put where others have things too. */
  shared(job: NightJob): readonly JobFile[];
  install(job: NightJob): Promise<void>;
  /** Takes the job of a project away; whether there was one. */
  remove(hash: string): Promise<boolean>;
  /** Projects that have a job, by their hashes. */
  list(): Promise<string[]>;
};

/** Where installers work. */
export type Site = { readonly programs: Programs; readonly home: string; readonly configHome?: string | undefined };

/** Writes a file of ours, all or nothing. Throws when something stands there that is not ours. */
export async function writeOurs({ path, text }: JobFile, hash: string): Promise<void> {
  await requireOurs(path, hash);
  await mkdir(dirname(path), { recursive: true });
  const draft = join(dirname(path), `.${basename(path)}.tmp`);
  await rm(draft, { force: true });
  await writeSynced(draft, text, 0o644);
  await rename(draft, path);
  await syncFolder(dirname(path));
}

/** Whether there was one. */
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
  throw new SkillError('USAGE', `${path} is not ours: it lacks the words ${markOf(hash)}`, {
    hint: 'It stays as it is. Move it away if it is not needed.',
  });
}

/** Hashes of the files of ours in a folder. */
export async function hashesOfFiles(folder: string, isName: (name: string) => boolean): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const texts = names.filter(isName).map((name) => readFile(join(folder, name), 'utf8').catch(() => ''));
  return [...new Set((await Promise.all(texts)).flatMap((text) => hashesIn(text)))];
}

export const failed = (what: string, why: string) =>
  new SkillError('ENV_FAILED', `${what}: ${why}`, { hint: 'Choose another way with --with, or see --print.' });
