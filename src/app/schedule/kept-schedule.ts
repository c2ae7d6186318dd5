import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../core/text/index.ts';
import { jobHash } from '../../sleep/index.ts';
import { createPrivate, isMissing, makeFolderBelow, readPrivate, writePrivate } from '../../stores/index.ts';
import {
  type ClockTime,
  clockText,
  type JobFile,
  logPath,
  type NightJob,
  type ScheduleKind,
  schedulesFolder,
} from './night-job.ts';

/** What is kept of a job, for `status` and `unschedule`. */
const KeptSchedule = z.object({
  project: z.string(),
  at: z.string(),
  kind: z.enum(['systemd', 'cron', 'launchd', 'windows']),
  pinned: z.array(z.object({ name: z.string(), path: z.string(), version: z.string() })),
});
export type KeptSchedule = z.infer<typeof KeptSchedule>;

type NewSchedule = { readonly job: NightJob; readonly kind: ScheduleKind; readonly files: readonly JobFile[] };

/**
 * Writes the private files of a job, and returns a function that restores the former ones. The first night is the next one:
 * what was due before is not caught up.
 */
export async function keepSchedule(stateFolder: string, { job, kind, files }: NewSchedule) {
  await makeFolderBelow(stateFolder, job.folder);
  await createPrivate(logPath(job));
  const { project, at, pinned, folder, hash } = job;
  const kept: KeptSchedule = { project, at: clockText(at), kind, pinned: [...pinned] };
  const all = [
    ...files,
    { path: join(folder, `${hash}.last`), text: new Date().toISOString() },
    { path: join(folder, `${hash}.json`), text: `${JSON.stringify(kept, null, 1)}\n` },
  ];
  const before = await Promise.all(all.map(({ path }) => readPrivate(path)));
  for (const { path, text } of all) await writePrivate(path, text);
  return async () => {
    for (const [at, { path }] of all.entries()) {
      const text = before[at];
      await (text === undefined ? rm(path, { force: true }) : writePrivate(path, text));
    }
  };
}

/** The schedule of a project, if there is one that can be read. */
export async function readSchedule(stateFolder: string, project: string): Promise<KeptSchedule | undefined> {
  const text = await readPrivate(join(schedulesFolder(stateFolder), `${jobHash(project)}.json`)).catch(() => undefined);
  return text === undefined ? undefined : KeptSchedule.safeParse(parseJson(text)).data;
}

/** Hashes of the projects that have something kept. */
export async function keptHashes(stateFolder: string): Promise<string[]> {
  const names = await namesIn(schedulesFolder(stateFolder));
  return names.filter((name) => /^[0-9a-f]{20}\.json$/.test(name)).map((name) => name.slice(0, 20));
}

/** Removes everything but the log. */
export async function forgetSchedule(stateFolder: string, hash: string): Promise<void> {
  const folder = schedulesFolder(stateFolder);
  const names = (await namesIn(folder)).filter((name) => name.startsWith(`${hash}.`) && !/\.log(\.old)?$/.test(name));
  for (const name of names) await rm(join(folder, name), { force: true });
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

/** The last moment, up to now, at which a clock showed this time. */
export function lastDue(now: Date, { hour, minute }: ClockTime): Date {
  const onDay = (day: number) => new Date(now.getFullYear(), now.getMonth(), day, hour, minute);
  const today = onDay(now.getDate());
  return today <= now ? today : onDay(now.getDate() - 1);
}

/** Whether no job of the project was started since this time last passed. If so, records that this one is. */
export async function takeTurn(stateFolder: string, project: string, at: ClockTime, now: Date): Promise<boolean> {
  const path = join(schedulesFolder(stateFolder), `${jobHash(project)}.last`);
  const last = Date.parse((await readPrivate(path)) ?? '');
  if (last >= lastDue(now, at).getTime() && last <= now.getTime()) return false;
  await makeFolderBelow(stateFolder, schedulesFolder(stateFolder));
  await writePrivate(path, now.toISOString());
  return true;
}
