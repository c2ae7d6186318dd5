import { lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SkillError } from '../../../core/contracts/index.ts';
import { hashesIn, type JobFile, markOf, type NightJob, type ScheduleKind } from '../../../sleep/index.ts';
import { isMissing, syncFolder, writeSynced } from '../../../stores/index.ts';
import type { Programs } from './programs.ts';

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
