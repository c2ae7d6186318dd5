import { existsSync } from 'node:fs';
import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { recoverReplacements } from '../../skills/index.ts';
import { ADOPTIONS_FOLDER, ANSWERS_FOLDER, JOBS_FOLDER } from '../../stores/index.ts';
import { keptPath, type Place, redactor } from '../../transcripts/index.ts';
import { scopeTest } from '../harvest/scope.ts';
import { forgetProject, INDEX_FILE } from '../harvest/session-index.ts';
import { STATE_FILE } from './folders.ts';
import { jobHash, type KeptNight, listAllNights, listNightFolders, removeJobLogs } from './nights.ts';
import { emptyState, type OpenSleepState, type SleepState } from './sleep-state.ts';

export const PURGEABLE = ['all', 'archive', 'index', 'consent', 'nights'] as const;
export type Purgeable = (typeof PURGEABLE)[number];

/** How many were removed, by kind. Kinds with none are missing. */
export type Removed = Readonly<Record<string, number>>;

type PurgeChoice = { readonly what: Purgeable; readonly project?: string | undefined; readonly place: Place };

/** Removes what is kept from a person's sessions. Settings and `.skilloptignore` stay. */
export async function purge(open: OpenSleepState, { what, project, place }: PurgeChoice): Promise<Removed> {
  if (what === 'consent' && project !== undefined)
    throw new SkillError('USAGE', 'consent is given to a provider, for no project', { hint: 'Leave the project out.' });
  const isOf = await ofTest(project, place);
  const wants = (kind: Purgeable) => what === 'all' || what === kind;
  const nights = wants('nights') ? await nightsOf(open, project, isOf) : []; // while the state still names the projects
  const removed = {
    ...(await purgeState(open, (state) => without(state, what, project === undefined ? undefined : isOf))),
    nights: await removeAll(nights),
    ...(wants('nights') ? { 'backups of adoptions': await removeUnused(open) } : {}),
    ...(wants('nights') ? { logs: await removeJobLogs(open.folder, project && jobHash(project)) } : {}),
    ...(wants('nights') && project === undefined ? { jobs: await removeJobs(open.folder) } : {}),
    ...(wants('index') ? { 'answers of models': await removeAnswers(open.folder) } : {}),
    ...(wants('index') ? await purgeIndex(open.folder, project === undefined ? undefined : isOf) : {}),
    ...(what === 'all' && project === undefined
      ? { 'damaged files': await removeNamed(open.folder, `${STATE_FILE}.`) }
      : {}),
  };
  return withoutNone(removed);
}

/** Tasks name the shown path of their project, sessions and nights its real path. */
async function ofTest(project: string | undefined, place: Place): Promise<(project: string) => boolean> {
  if (project === undefined) return () => true;
  return scopeTest([project, keptPath(project, place, redactor(place))], place);
}

type IsOf = (project: string) => boolean;

/** Without `isOf`: of all projects. */
function without(state: SleepState, what: Purgeable, isOf: IsOf | undefined): SleepState {
  if (what === 'all' && isOf === undefined) return emptyState;
  const kept = <Entry>(list: Entry[], projectOf: (entry: Entry) => string, ...kinds: readonly Purgeable[]) => {
    if (what !== 'all' && !kinds.includes(what)) return list;
    return isOf === undefined ? [] : list.filter((entry) => !isOf(projectOf(entry)));
  };
  const projectOf = ({ project }: { readonly project: string }) => project;
  return {
    ...state,
    taskArchive: kept(state.taskArchive, ({ task }) => task.project, 'archive'),
    overNights: kept(state.overNights, projectOf, 'archive', 'nights'),
    consents: what === 'consent' ? [] : state.consents,
    proposals: kept(state.proposals, projectOf, 'nights'),
    history: kept(state.history, projectOf, 'nights'),
    projects: Object.fromEntries(kept(Object.entries(state.projects), ([path]) => path)),
  };
}

async function purgeState(open: OpenSleepState, change: (state: SleepState) => SleepState): Promise<Removed> {
  const [before, after] = [open.state, change(open.state)];
  const removed = {
    'archived tasks': before.taskArchive.length - after.taskArchive.length,
    'documents compared over nights': before.overNights.length - after.overNights.length,
    consents: before.consents.length - after.consents.length,
    proposals: before.proposals.length - after.proposals.length,
    'lines of history': before.history.length - after.history.length,
    'projects with their cursors': Object.keys(before.projects).length - Object.keys(after.projects).length,
  };
  if (Object.values(removed).some((count) => count > 0)) await open.update(() => after);
  return removed;
}

async function nightsOf(open: OpenSleepState, project: string | undefined, isOf: IsOf): Promise<KeptNight[]> {
  if (project === undefined) return listAllNights(open.folder);
  const known = [...Object.keys(open.state.projects), project].filter((path) => path === project || isOf(path));
  return (await Promise.all([...new Set(known)].map((path) => listNightFolders(open.folder, path)))).flat();
}

async function removeAll(nights: readonly KeptNight[]): Promise<number> {
  for (const { path } of nights) {
    await rm(path, { recursive: true, force: true });
    await rmdir(dirname(path)).catch(() => undefined); // stays while it holds other nights
  }
  return nights.length;
}

async function purgeIndex(folder: string, isOf: IsOf | undefined): Promise<Removed> {
  if (isOf !== undefined) return { 'indexed files': await forgetProject(folder, isOf) };
  return { indexes: await removeNamed(folder, INDEX_FILE) };
}

/** Removes old bytes of documents that belong to no proposal. A change that a crash cut off is undone first. */
async function removeUnused({ folder, state }: OpenSleepState, oldest = Number.POSITIVE_INFINITY): Promise<number> {
  const adoptions = join(folder, ADOPTIONS_FOLDER);
  await recoverReplacements(adoptions);
  const used = new Set(state.proposals.map(({ receipt }) => receipt));
  const entries = await readdir(adoptions, { withFileTypes: true }).catch(() => []);
  const unused = entries.filter((entry) => entry.isDirectory() && !used.has(entry.name));
  const paths = unused.map(({ name }) => join(adoptions, name));
  const ages = await Promise.all(paths.map(async (path) => (await stat(path)).mtimeMs));
  const old = paths.filter((_, index) => ages[index]! < oldest);
  for (const path of old) await rm(path, { recursive: true, force: true });
  return old.length;
}

/** Of all projects: answers do not name theirs. */
async function removeAnswers(folder: string): Promise<number> {
  const isThere = existsSync(join(folder, ANSWERS_FOLDER));
  await rm(join(folder, ANSWERS_FOLDER), { recursive: true, force: true });
  return Number(isThere);
}

async function removeJobs(folder: string): Promise<number> {
  const jobs = join(folder, JOBS_FOLDER);
  const names = await readdir(jobs).catch(() => []);
  await rm(jobs, { recursive: true, force: true });
  return names.length;
}

async function removeNamed(folder: string, start: string): Promise<number> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(start));
  for (const name of names) await rm(join(folder, name), { force: true });
  return names.filter((name) => !/-(wal|shm)$/.test(name)).length;
}

export type Retention = {
  readonly days: number;
  /** Maximum number of tasks, and of lines of history, that stay: the newest. */
  readonly entries: number;
};

export async function retain(open: OpenSleepState, { days, entries }: Retention, now: number): Promise<Removed> {
  const oldest = now - days * 86_400_000;
  const keep = <Entry extends { at: string }>(list: readonly Entry[]) =>
    list.filter(({ at }) => !(Date.parse(at) < oldest)).slice(-entries);
  const fromState = await purgeState(open, (state) => ({
    ...state,
    taskArchive: keep(state.taskArchive),
    history: keep(state.history),
    proposals: keep(state.proposals),
  }));
  const backups = await removeUnused(open, oldest);
  const nights = await listAllNights(open.folder);
  const ages = await Promise.all(nights.map(async ({ path }) => (await stat(path)).mtimeMs));
  return withoutNone({
    ...fromState,
    'backups of adoptions': backups,
    nights: await removeAll(nights.filter((_, index) => ages[index]! < oldest)),
  });
}

const withoutNone = (removed: Removed): Removed =>
  Object.fromEntries(Object.entries(removed).filter(([, count]) => count > 0));
