import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { noView, projectRun, type RunView } from '../core/page/index.ts';
import {
  addStageUsage,
  emptyRun,
  type RunEvent,
  type RunState,
  reduce,
  usageBeyond,
  type VerdictOptions,
} from '../core/run/index.ts';
import { growing, suggestion } from '../core/text/index.ts';
import { resolvePath } from '../project/index.ts';
import {
  foldJournal,
  isMissing,
  isRunLocked,
  JOURNAL_FILE,
  LEDGER_FILE,
  listRuns,
  lockedSince,
  readKeptState,
  readLedger,
} from '../stores/index.ts';

export type LoadedRun = {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  readonly state: RunState;
};

/** Is notified of each event and the state after it. */
type Watch = (event: RunEvent, state: RunState) => void;

/** A run as its journal records it. Only reads. Without a journal the state is empty. */
export async function loadRun(path: string, watch?: Watch): Promise<LoadedRun> {
  const kept = watch ? undefined : await readKeptState(path, JOURNAL_FILE);
  let state = kept?.state ?? emptyRun;
  const fold = watch ? reduce : growing(reduce); // a watcher may keep every state
  const take = (event: RunEvent) => {
    state = fold(state, event);
    watch?.(event, state);
  };
  await foldJournal(join(path, JOURNAL_FILE), take, kept?.place);
  return { path, name: basename(path), state };
}

/** A run as pages show it. Reads the whole journal: no state that was kept has its attempts. */
export async function viewRun(path: string, watch?: (event: RunEvent) => void): Promise<RunView> {
  let view = noView;
  const project = growing(projectRun);
  await foldJournal(join(path, JOURNAL_FILE), (event) => {
    view = project(view, event);
    watch?.(event);
  });
  return view;
}

/** The run at a path. Throws `RUN_NOT_FOUND` if there is none: an empty state would look like a run that has just begun. */
export async function readRun(path: string, watch?: Watch): Promise<LoadedRun> {
  const absolute = resolve(path);
  if (existsSync(join(absolute, JOURNAL_FILE)) || isClosed(absolute)) return loadRun(absolute, watch);
  const message = `expected a run at ${path}, and there is no ${JOURNAL_FILE}`;
  throw new SkillError('RUN_NOT_FOUND', message, { hint: 'Name the folder of a run, such as runs/NAME.' });
}

/** What the journal of an unfinished run does not say: whether it is running, and what it has spent. */
export async function standingOf({ path, state }: LoadedRun): Promise<VerdictOptions> {
  if (state.isDone) return {};
  const isRunning = await isRunLocked(path);
  const aliveSince = isRunning ? ((await lockedSince(path)) ?? 0) : undefined;
  const { usage, limit, advised } = await readLedger(join(path, LEDGER_FILE), aliveSince);
  return { isRunning, usage: addStageUsage(state.usage, usageBeyond(usage, state.usage)), limit, advised };
}

type RunFolder = { readonly cwd: string; readonly root: string };

export async function onlyRun({ cwd, root }: RunFolder): Promise<string> {
  const names = (await listRuns(resolvePath(cwd, root))).map((run) => run.name);
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  if (only === undefined) throw new SkillError('RUN_NOT_FOUND', `there are no runs in ${root}`, { hint: NO_RUNS });
  const hint = `Name one of them, the latest first: ${names.join(', ')}`;
  throw new SkillError('USAGE', `which run is meant? There are ${names.length} in ${root}`, { hint });
}

export async function liveRun(place: RunFolder): Promise<string> {
  const runs = await listRuns(resolvePath(place.cwd, place.root));
  const atWork = await Promise.all(runs.map(({ path }) => isRunLocked(path)));
  const live = runs.filter((_, index) => atWork[index]);
  return live.length === 1 ? live[0]!.name : onlyRun(place);
}

const LIST = 'Name a run, or its path. Which there are: skillopt runs';
const NO_RUNS = 'Start one with: skillopt train';

/** The path of the run with a name below `root`, or at a path; undefined if there is none. */
export function runPath(nameOrPath: string, { cwd, root }: RunFolder): string | undefined {
  if (nameOrPath.trim() === '') throw new SkillError('USAGE', 'the name of a run is empty', { hint: LIST });
  const candidates = [resolvePath(resolvePath(cwd, root), nameOrPath), resolvePath(cwd, nameOrPath)];
  return candidates.find((candidate) => existsSync(join(candidate, JOURNAL_FILE)) || isClosed(candidate));
}

/** Whether a folder cannot be looked into. It may be a run, and opening it says why it cannot be read. */
function isClosed(path: string): boolean {
  try {
    return statSync(join(path, JOURNAL_FILE), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !isMissing(error);
  }
}

export async function findRun(nameOrPath: string, folder: RunFolder, watch?: Watch): Promise<LoadedRun> {
  const path = runPath(nameOrPath, folder);
  if (path === undefined) throw await noRun(nameOrPath, folder);
  return loadRun(path, watch);
}

/** The error for a name that is no run, with the names of the runs. `what` says what else it is not. */
export async function noRun(name: string, { cwd, root }: RunFolder, what = ''): Promise<SkillError> {
  const names = (await listRuns(resolvePath(cwd, root))).map((run) => run.name);
  const hint = names.length > 0 ? `Runs in ${root}: ${names.join(', ')}` : `There are no runs in ${root}. ${NO_RUNS}`;
  return new SkillError('RUN_NOT_FOUND', `no run ${name}${what}${suggestion(name, names)}`, { hint });
}
