import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SleepReport } from '../../report/index.ts';
import { listNights, type NightRecord, projectFolder, readNight } from '../../sleep/index.ts';
import { JOURNAL_FILE, listRuns, type RunListing, readPrivate } from '../../stores/index.ts';

/** A night is a run in the private state folder: `night-12`, and `night-12.memory` for its other document. */
const PREFIX = 'night-';

export const isNight = (name: string) => name.startsWith(PREFIX);

export type NightsPlace = { readonly cwd: string; readonly stateFolder: string };

export async function listNightRuns(place: NightsPlace): Promise<RunListing[]> {
  const nights = await listRuns(nightsFolder(place));
  return nights.filter(({ name }) => /^\d/.test(name)).map((night) => ({ ...night, name: PREFIX + night.name }));
}

/** The folder of a night by its name, and whether it holds a run: without training it has only a report. */
export function nightPath(name: string, place: NightsPlace) {
  const path = join(nightsFolder(place), name.slice(PREFIX.length));
  const isEmpty = existsSync(join(path, 'report.md')) && !existsSync(join(path, JOURNAL_FILE));
  return { path: existsSync(path) ? path : undefined, hasRun: !isEmpty };
}

/** A night that is over, by its name or that of one of its runs. */
export type FinishedNight = { readonly name: string; readonly folder: string; readonly report: SleepReport };

export async function finishedNight(name: string, place: NightsPlace): Promise<FinishedNight | undefined> {
  const night = /^night-(\d+)(\.|$)/.exec(name)?.[1];
  if (night === undefined) return undefined;
  const folder = join(nightsFolder(place), night);
  const text = await readPrivate(join(folder, 'report.json'));
  return text === undefined ? undefined : { name: PREFIX + night, folder, report: JSON.parse(text) as SleepReport };
}

/** The nights of the project that are over, the latest first. One whose report cannot be read is left out. */
export async function listFinishedNights(place: NightsPlace): Promise<FinishedNight[]> {
  const names = await readdir(nightsFolder(place)).catch(() => []);
  const numbers = names.filter((name) => /^\d+$/.test(name)).sort((a, b) => Number(b) - Number(a));
  const nights = await Promise.all(
    numbers.map((number) => finishedNight(PREFIX + number, place).catch(() => undefined)),
  );
  return nights.filter((night) => night !== undefined);
}

/** The night that began last, with its record if it was not ended. */
export async function lastNight(stateFolder: string, project: string) {
  const last = (await listNights(stateFolder, project)).at(-1);
  const record = last && (await readNight(last.path));
  return last && { ...last, isOver: record !== undefined && record.status !== 'running', ...unfinished(record) };
}

/**
 * The last night that got as far as its tasks, and how it stands. A night that still looks for tasks has none: so a plan says the
 * same before its night begins and while it gathers, and something else afterwards.
 */
export async function lastRecorded(stateFolder: string, project: string): Promise<NightRecord | undefined> {
  for (const { path } of (await listNights(stateFolder, project)).reverse()) {
    const record = await readNight(path);
    if (record !== undefined) return record;
  }
  return undefined;
}

const unfinished = (record: NightRecord | undefined) => (record?.status === 'running' ? { unfinished: record } : {});

/** Nights belong to a whole project, and `cwd` may be a folder in it. */
function nightsFolder({ cwd, stateFolder }: NightsPlace): string {
  for (let folder = cwd; dirname(folder) !== folder; folder = dirname(folder)) {
    if (existsSync(projectFolder(stateFolder, folder))) return projectFolder(stateFolder, folder);
  }
  return projectFolder(stateFolder, cwd);
}
