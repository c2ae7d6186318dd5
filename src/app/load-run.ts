import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import {
  type Amounts,
  addBills,
  amountsIn,
  emptyRun,
  type RunEvent,
  type RunState,
  reduce,
  type Spent,
  type VerdictOptions,
} from '../core/run/index.ts';
import { suggestion } from '../core/text/index.ts';
import { largerAmounts, paidSince } from '../models/index.ts';
import { resolvePath } from '../project/index.ts';
import {
  foldJournal,
  isMissing,
  isRunLocked,
  type KeptState,
  LEDGER_FILE,
  listRuns,
  readKeptState,
  readLedger,
  repliesSince,
} from '../stores/index.ts';

const JOURNAL = 'events.jsonl';

export type LoadedRun = {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  readonly state: RunState;
};

/** Told of the state after each event. */
type Watch = (event: RunEvent, state: RunState) => void;

/** A run as its journal tells it. Reads only. Without a journal its state is that of no run. */
export async function loadRun(path: string, watch?: Watch): Promise<LoadedRun> {
  const kept = watch ? undefined : await readKeptState(path, JOURNAL);
  return { path, name: basename(path), state: await foldRun(path, kept, watch) };
}

async function foldRun(path: string, kept: KeptState | undefined, watch?: Watch): Promise<RunState> {
  let state = kept?.state ?? emptyRun;
  const take = (event: RunEvent) => {
    state = reduce(state, event);
    watch?.(event, state);
  };
  await foldJournal(join(path, JOURNAL), take, kept?.place);
  return state;
}

/** What the journal of a run that is not over does not say. */
export async function standingOf({ path, state }: LoadedRun): Promise<VerdictOptions> {
  if (state.isDone) return {};
  const ledger = await readLedger(join(path, LEDGER_FILE));
  return { isRunning: await isRunLocked(path), spent: withKnown(ledger, await knownAmounts(path, state)) };
}

/** By the journal, and by the cache of what was paid after its last line. */
async function knownAmounts(path: string, { usage }: RunState): Promise<Amounts> {
  let counted: number | undefined;
  await foldJournal(join(path, JOURNAL), (event) => {
    counted = event.counted ?? counted;
  });
  if (counted === undefined) return amountsIn(usage);
  const replies = await repliesSince(path, counted);
  return amountsIn(addBills(usage, paidSince({ since: () => replies }, counted) ?? []));
}

/** What the ledger says is the most; where it says no more than what is known, that is exact. */
function withKnown({ isMost, ...ledger }: Spent, known: Amounts): Spent {
  const isMore = (['calls', 'totalTokens', 'costUsd'] as const).some((of) => ledger[of] > known[of]);
  return { ...ledger, ...largerAmounts(ledger, known), ...(isMost && isMore ? { isMost } : {}) };
}

type RunFolder = { readonly cwd: string; readonly root: string };

/** The name that is meant where none was given: that of the only run. */
export async function onlyRun({ cwd, root }: RunFolder): Promise<string> {
  const names = (await listRuns(resolvePath(cwd, root))).map((run) => run.name);
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  if (only === undefined) throw new SkillError('RUN_NOT_FOUND', `there are no runs in ${root}`, { hint: NO_RUNS });
  const hint = `Name one of them, the latest first: ${names.join(', ')}`;
  throw new SkillError('USAGE', `which run is meant? There are ${names.length} in ${root}`, { hint });
}

/** The name that is meant where something is to be watched: that of the only run at work, or else of the only run. */
export async function liveRun(place: RunFolder): Promise<string> {
  const runs = await listRuns(resolvePath(place.cwd, place.root));
  const atWork = await Promise.all(runs.map(({ path }) => isRunLocked(path)));
  const live = runs.filter((_, index) => atWork[index]);
  return live.length === 1 ? live[0]!.name : onlyRun(place);
}

const LIST = 'Name a run, or its path. Which there are: skillopt runs';
const NO_RUNS = 'Start one with: skillopt train';

/** Where the run with a name below `root`, or at a path, is; nothing where there is none. */
export function runPath(nameOrPath: string, { cwd, root }: RunFolder): string | undefined {
  if (nameOrPath.trim() === '') throw new SkillError('USAGE', 'the name of a run is empty', { hint: LIST });
  const candidates = [resolvePath(resolvePath(cwd, root), nameOrPath), resolvePath(cwd, nameOrPath)];
  return candidates.find((candidate) => existsSync(join(candidate, JOURNAL)) || isClosed(candidate));
}

/** Whether something is there that cannot be looked into. It may be a run, and to open it says why it cannot be. */
function isClosed(path: string): boolean {
  try {
    return statSync(join(path, JOURNAL), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !isMissing(error);
  }
}

/** The run with a name below `root`, or at a path; `RUN_NOT_FOUND` names what there is. */
export async function findRun(nameOrPath: string, { cwd, root }: RunFolder, watch?: Watch): Promise<LoadedRun> {
  const path = runPath(nameOrPath, { cwd, root });
  if (path !== undefined) return loadRun(path, watch);
  throw await noRun(nameOrPath, { cwd, root });
}

/** That a name is that of no run, with those that there are. `what` says what else it is not. */
export async function noRun(name: string, { cwd, root }: RunFolder, what = ''): Promise<SkillError> {
  const names = (await listRuns(resolvePath(cwd, root))).map((run) => run.name);
  const hint = names.length > 0 ? `Runs in ${root}: ${names.join(', ')}` : `There are no runs in ${root}. ${NO_RUNS}`;
  return new SkillError('RUN_NOT_FOUND', `no run ${name}${what}${suggestion(name, names)}`, { hint });
}
