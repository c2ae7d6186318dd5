import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import type { RunEvent } from '../../core/event.ts';
import { emptyRun, type RunState } from '../../core/run-state.ts';
import { reduce } from '../../core/state.ts';
import { listRuns, readJournal } from '../../stores/index.ts';
import { suggestion } from '../closest-name.ts';
import { resolvePath } from '../resolve-path.ts';

const JOURNAL = 'events.jsonl';

export type LoadedRun = {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  readonly events: readonly RunEvent[];
  readonly state: RunState;
};

/** A run as its journal tells it. Reads only. */
export async function loadRun(path: string): Promise<LoadedRun> {
  const events = await readJournal(join(path, JOURNAL));
  return { path, name: basename(path), events, state: events.reduce(reduce, emptyRun) };
}

type Place = { readonly cwd: string; readonly root: string };

/** The run with a name below `root`, or at a path; `RUN_NOT_FOUND` names what there is. */
export async function findRun(nameOrPath: string, { cwd, root }: Place): Promise<LoadedRun> {
  const folder = resolvePath(cwd, root);
  const candidates = [resolvePath(folder, nameOrPath), resolvePath(cwd, nameOrPath)];
  const path = candidates.find((candidate) => existsSync(join(candidate, JOURNAL)));
  if (path !== undefined) return loadRun(path);
  const names = (await listRuns(folder)).map((run) => run.name);
  const hint =
    names.length > 0
      ? `Runs in ${root}: ${names.join(', ')}`
      : `There are no runs in ${root}. Start one with: skillopt train`;
  throw new SkillError('RUN_NOT_FOUND', `no run ${nameOrPath}${suggestion(nameOrPath, names)}`, { hint });
}
