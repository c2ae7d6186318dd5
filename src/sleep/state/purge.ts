import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { recoverReplacements } from '../../skills/index.ts';
import { ADOPTIONS_FOLDER, ANSWERS_FOLDER } from '../../stores/index.ts';
import { keptPath, type Place, redactor } from '../../transcripts/index.ts';
import { scopeTest } from '../harvest/scope.ts';
import { forgetProject, INDEX_FILE } from '../harvest/session-index.ts';
import { jobHash, type KeptNight, listAllNights, listNightFolders, removeJobLogs } from './nights.ts';
import { emptyState, type OpenSleepState, type SleepState, STATE_FILE } from './sleep-state.ts';

export const PURGEABLE = ['all', 'archive', 'index', 'consent', 'nights'] as const;
export type Purgeable = (typeof PURGEABLE)[number];

/** What was removed, by kind. Kinds of which there was nothing are not in it. */
export type Removed = Readonly<Record<string, number>>;

type Purge = {
  readonly what: Purgeable;
  /** Only what is of this folder and below. */
  readonly project?: string | undefined;
  readonly place: Place;
};

/** Removes what was kept of a person's sessions. Settings and `.skilloptignore` stay. */
export async function purge(open: OpenSleepState, { what, project, place }: Purge): Promise<Removed> {
  if (what === 'consent' && project !== undefined) {
    const hint = 'Leave the project out.';
    throw new SkillError('USAGE', 'consent is given to a provider, for no project', { hint });
  }
  const isOf = await ofTest(project, place);
  const wants = (kind: Purgeable) => what === 'all' || what === kind;
  const nights = wants('nights') ? await nightsOf(open, project, isOf) : []; // While the state still names the projects.
  const removed = {
    ...(await purgeState(open, (state) => without(state, { what, isOf, isWhole: project === undefined }))),
    nights: await removeAll(nights),
    ...(wants('nights') ? { 'backups of adoptions': await removeUnused(open) } : {}),
    ...(wants('nights') ? { logs: await removeJobLogs(open.folder, project && jobHash(project)) } : {}),
    ...(wants('index') ? { 'answers of models': await removeAnswers(open.folder) } : {}),
    ...(wants('index') ? await purgeIndex(open.folder, project === undefined ? undefined : isOf) : {}),
    ...(what === 'all' && project === undefined ? { 'damaged files': await removeDamaged(open.folder) } : {}),
  };
  return withoutNone(removed);
}

/** Tasks name their project as it is shown, sessions and nights as it is. */
async function ofTest(project: string | undefined, place: Place): Promise<(project: string) => boolean> {
  if (project === undefined) return () => true;
  return scopeTest([project, keptPath(project, place, redactor(place))], place);
}

type Which = { readonly what: Purgeable; readonly isOf: (project: string) => boolean; readonly isWhole: boolean };

function without(state: SleepState, { what, isOf, isWhole }: Which): SleepState {
  const keepOthers = <Entry>(list: readonly Entry[], projectOf: (entry: Entry) => string) =>
    isWhole ? [] : list.filter((entry) => !isOf(projectOf(entry)));
  if (what === 'all' && isWhole) return emptyState;
  return {
    ...state,
    taskArchive:
      what === 'archive' || what === 'all'
        ? keepOthers(state.taskArchive, ({ task }) => task.project)
        : state.taskArchive,
    overNights:
      what === 'all' || what === 'archive' || what === 'nights'
        ? keepOthers(state.overNights, ({ project }) => project)
        : state.overNights,
    consents: what === 'consent' ? [] : state.consents,
    proposals:
      what === 'all' || what === 'nights' ? keepOthers(state.proposals, ({ project }) => project) : state.proposals,
    history: what === 'all' || what === 'nights' ? keepOthers(state.history, ({ project }) => project) : state.history,
    projects:
      what === 'all'
        ? Object.fromEntries(keepOthers(Object.entries(state.projects), ([path]) => path))
        : state.projects,
  };
}

/** Nothing is written when nothing goes. */
async function purgeState(open: OpenSleepState, change: (state: SleepState) => SleepState): Promise<Removed> {
  const [before, after] = [open.state, change(open.state)];
  const removed = countGone(before, after);
  if (Object.values(removed).some((count) => count > 0)) await open.update(() => after);
  return removed;
}

function countGone(before: SleepState, after: SleepState): Removed {
  return {
    'archived tasks': before.taskArchive.length - after.taskArchive.length,
    'documents compared over nights': before.overNights.length - after.overNights.length,
    consents: before.consents.length - after.consents.length,
    proposals: before.proposals.length - after.proposals.length,
    'lines of history': before.history.length - after.history.length,
    'projects with their cursors': Object.keys(before.projects).length - Object.keys(after.projects).length,
  };
}

async function nightsOf(open: OpenSleepState, project: string | undefined, isOf: Which['isOf']): Promise<KeptNight[]> {
  if (project === undefined) return listAllNights(open.folder);
  const known = [...Object.keys(open.state.projects), project].filter((path) => path === project || isOf(path));
  return (await Promise.all([...new Set(known)].map((path) => listNightFolders(open.folder, path)))).flat();
}

async function removeAll(nights: readonly KeptNight[]): Promise<number> {
  for (const { path } of nights) {
    await rm(path, { recursive: true, force: true });
    await rmdir(dirname(path)).catch(() => undefined); // Stays while it holds other nights.
  }
  return nights.length;
}

async function purgeIndex(folder: string, isOf: Which['isOf'] | undefined): Promise<Removed> {
  if (isOf !== undefined) return { 'indexed files': await forgetProject(folder, isOf) };
  return { indexes: await removeNamed(folder, (name) => name.startsWith(INDEX_FILE)) };
}

/** Old bytes of documents that no proposal speaks of any more. What a crash cut off is taken back first. */
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

/** All of them: they do not tell of which project they are. */
async function removeAnswers(folder: string): Promise<number> {
  const path = join(folder, ANSWERS_FOLDER);
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  await rm(path, { recursive: true, force: true });
  return Number(isThere);
}

const removeDamaged = (folder: string) => removeNamed(folder, (name) => name.startsWith(`${STATE_FILE}.`));

async function removeNamed(folder: string, isMeant: (name: string) => boolean): Promise<number> {
  const names = (await readdir(folder)).filter(isMeant);
  for (const name of names) await rm(join(folder, name), { force: true });
  return names.filter((name) => !/-(wal|shm)$/.test(name)).length;
}

export type Retention = {
  /** Older tasks, lines of history and nights go. */
  readonly days: number;
  /** Most tasks, and most lines of history, that stay: the newest. */
  readonly entries: number;
};

/** Removes what is older or more than a person wants to be kept. */
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
