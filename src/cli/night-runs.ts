import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { projectFolder, type SleepReport } from '../sleep/index.ts';
import { listRuns, type RunListing, readPrivate, stateFolderOf } from '../stores/index.ts';
import { placeOf } from './sleep/open-sleep.ts';
import type { Terminal } from './terminal/terminal.ts';

/** A night is a run, and lies in the private state folder: `night-12`, and `night-12.memory` for its other document. */
const PREFIX = 'night-';

export const isNight = (name: string) => name.startsWith(PREFIX);

/** The nights of the project that this folder belongs to. */
export async function listNightRuns(terminal: Terminal): Promise<RunListing[]> {
  const nights = await listRuns(nightsFolder(terminal));
  return nights.filter(({ name }) => /^\d/.test(name)).map((night) => ({ ...night, name: PREFIX + night.name }));
}

/** What to look for, and where: nights are found by the names that `runs` shows. */
export function runPlace(name: string, root: string, terminal: Terminal) {
  const cwd = terminal.io.cwd();
  if (!isNight(name)) return [name, { cwd, root }] as const;
  const night = join(nightsFolder(terminal), name.slice(PREFIX.length));
  if (existsSync(join(night, 'report.md')) && !existsSync(join(night, 'events.jsonl'))) {
    const hint = `What became of it: skillopt show ${name}`;
    throw new SkillError('RUN_NOT_FOUND', `${name} has trained nothing, so there is no run of it`, { hint });
  }
  return [existsSync(night) ? night : name, { cwd, root }] as const;
}

/** A night that is over, by its name or that of one of its runs. */
export type FinishedNight = {
  /** Such as `night-12`. */
  readonly name: string;
  readonly folder: string;
  readonly report: SleepReport;
};

export async function finishedNight(name: string, terminal: Terminal): Promise<FinishedNight | undefined> {
  const night = /^night-(\d+)(\.|$)/.exec(name)?.[1];
  if (night === undefined) return undefined;
  const folder = join(nightsFolder(terminal), night);
  const text = await readPrivate(join(folder, 'report.json'));
  return text === undefined ? undefined : { name: PREFIX + night, folder, report: JSON.parse(text) as SleepReport };
}

/** Nights are of a whole project, and this may be a folder in it. */
function nightsFolder(terminal: Terminal): string {
  const state = stateFolderOf(placeOf(terminal));
  const cwd = terminal.io.cwd();
  for (let folder = cwd; dirname(folder) !== folder; folder = dirname(folder)) {
    if (existsSync(projectFolder(state, folder))) return projectFolder(state, folder);
  }
  return projectFolder(state, cwd);
}
