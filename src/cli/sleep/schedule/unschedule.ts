import { realpath } from 'node:fs/promises';
import { oneLine, plural } from '../../../core/text/index.ts';
import { forgetSchedule, jobHash, keptHashes, schedulesFolder } from '../../../sleep/index.ts';
import { makeFolderBelow, openStateFolder, stateFolderOf, takeLock } from '../../../stores/index.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { meantProject } from '../choose-proposals.ts';
import { placeOf } from '../open-sleep.ts';
import { type Installers, openInstallers } from './choose-installer.ts';
import { LOCK_WORDS } from './schedule.ts';

export type UnscheduleFlags = { readonly project?: string; readonly all?: boolean };

/** Takes nightly jobs of ours away, and nothing else. */
export async function unschedule(flags: UnscheduleFlags, terminal: Terminal): Promise<void> {
  const place = placeOf(terminal);
  const folder = await openStateFolder(stateFolderOf(place));
  const { here } = meantProject(flags, terminal);
  const project = await realpath(here).catch(() => here);
  const installers = openInstallers(place, project);
  await makeFolderBelow(folder, schedulesFolder(folder));
  const lock = await takeLock(`${schedulesFolder(folder)}/schedule.lock`, LOCK_WORDS);
  try {
    const failures: Error[] = [];
    const removed = await removeJobs(installers, flags.all ? undefined : jobHash(project), failures);
    if (removed.length === 0 && failures[0] !== undefined) throw failures[0];
    for (const { message } of failures) terminal.warn(oneLine(message));
    for (const hash of flags.all ? await keptHashes(folder) : [jobHash(project)]) await forgetSchedule(folder, hash);
    terminal.answer({ removed, project: flags.all ? null : project }, [removedLine(removed.length, project, flags)]);
  } finally {
    await lock.release();
  }
}

type Removed = { readonly kind: string; readonly hash: string };

/** Of one project, or all of them. One way that fails does not keep the others. */
async function removeJobs({ local }: Installers, hash: string | undefined, failures: Error[]): Promise<Removed[]> {
  const removed: Removed[] = [];
  for (const installer of local) {
    try {
      for (const one of hash === undefined ? await installer.list() : [hash]) {
        if (await installer.remove(one)) removed.push({ kind: installer.kind, hash: one });
      }
    } catch (error) {
      failures.push(error as Error);
    }
  }
  return removed;
}

function removedLine(count: number, project: string, { all }: UnscheduleFlags): string {
  if (all) return count === 0 ? 'There was no nightly job of ours.' : `Took ${plural(count, 'nightly job')} away.`;
  const where = oneLine(project);
  return count === 0 ? `There was no nightly job for ${where}.` : `No night runs for ${where} by itself any more.`;
}
