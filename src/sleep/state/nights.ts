import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isMissing, makeFolderBelow, SCHEDULES_FOLDER } from '../../stores/index.ts';
import { nightOf, type SleepState } from './sleep-state.ts';

const NIGHTS_FOLDER = 'nights';

/** A folder's name for a project: what a person calls it, and a part of a hash, since many are called `app`. */
export function projectFolderName(project: string): string {
  const readable = basename(project.replaceAll('\\', '/'))
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+|[.-]+$/g, '')
    .slice(0, 40);
  const hash = createHash('sha256').update(project).digest('hex').slice(0, 8);
  return `${readable || 'project'}-${hash}`;
}

/** Where the nights of a project are. */
export const projectFolder = (stateFolder: string, project: string): string =>
  join(stateFolder, NIGHTS_FOLDER, projectFolderName(project));

/** Of a night by its number, or of one of its documents: `12`, `12.memory`. */
export const nightFolder = (stateFolder: string, project: string, night: number | string): string =>
  join(stateFolder, NIGHTS_FOLDER, projectFolderName(project), String(night));

export type KeptNight = { readonly night: number; readonly path: string };

/** The nights of a project that are on disk, oldest first. */
export async function listNights(stateFolder: string, project: string): Promise<KeptNight[]> {
  const folders = await listNightFolders(stateFolder, project);
  return folders.filter(({ path }) => !basename(path).includes('.'));
}

/** The same, with the folders of their other documents. */
export async function listNightFolders(stateFolder: string, project: string): Promise<KeptNight[]> {
  const names = await namesIn(join(stateFolder, NIGHTS_FOLDER, projectFolderName(project)));
  const ours = names
    .filter((name) => /^[1-9]\d{0,8}(\.|$)/.test(name))
    .sort((a, b) => parseInt(a, 10) - parseInt(b, 10));
  return ours.map((name) => ({ night: parseInt(name, 10), path: nightFolder(stateFolder, project, name) }));
}

/** Makes the folder of a new night. Its number is free also when the state was lost and begins again. */
export async function makeNight(stateFolder: string, state: SleepState, project: string): Promise<KeptNight> {
  const last = (await listNights(stateFolder, project)).at(-1)?.night ?? 0;
  const night = Math.max(last, nightOf(state, project)) + 1;
  const path = nightFolder(stateFolder, project, night);
  await makeFolderBelow(stateFolder, path);
  return { night, path };
}

/** Folders below `nights/`, whatever projects they are of. */
export async function listAllNights(stateFolder: string): Promise<KeptNight[]> {
  const root = join(stateFolder, NIGHTS_FOLDER);
  const projects = await namesIn(root);
  const nights = projects.map(async (project) =>
    (await namesIn(join(root, project))).map((name) => ({ night: Number(name), path: join(root, project, name) })),
  );
  return (await Promise.all(nights)).flat();
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

/** The name of a project's nightly job. */
export const jobHash = (project: string): string => createHash('sha256').update(project).digest('hex').slice(0, 20);

/** Removes the logs of nightly jobs, of one project or of all: they tell of tasks. Returns how many there were. */
export async function removeJobLogs(stateFolder: string, hash = ''): Promise<number> {
  const folder = join(stateFolder, SCHEDULES_FOLDER);
  const names = (await namesIn(folder)).filter((name) => name.startsWith(hash) && /\.log(\.old)?$/.test(name));
  for (const name of names) await rm(join(folder, name), { force: true });
  return names.length;
}
