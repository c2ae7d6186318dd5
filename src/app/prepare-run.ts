import { parseConfig } from '../core/contracts/index.ts';
import { type Caller, type LoadedProject, resolveModels } from '../project/index.ts';
import type { CostEstimate } from '../report/index.ts';
import { shownPath } from '../stores/index.ts';
import { type TrainerOptions, withEnv } from '../train/index.ts';
import { estimateWiring } from './estimate-project.ts';
import { loadRun } from './load-run.ts';
import { overlayEnv } from './overlay-env.ts';
import { wireRun } from './wire-run.ts';

/** A project that is ready to be trained. */
export type PreparedRun = {
  /** The run directory, absolute. */
  readonly path: string;
  /** No run is there yet. One that cannot be read is not new; training says what is wrong with it. */
  readonly isNew: boolean;
  /** What the project asks for and does not get. */
  readonly warnings: readonly string[];
  readonly trainer: Omit<TrainerOptions, 'store' | 'observers' | 'signal'>;
  estimate(): Promise<CostEstimate>;
};

/** Wires a project once and sets its environment up once, for the estimate and the run alike; closes it after `work`. */
export async function prepareRun<T>(
  loaded: LoadedProject,
  caller: Caller,
  work: (run: PreparedRun) => Promise<T>,
): Promise<T> {
  const wiring = await wireRun(loaded);
  const models = await resolveModels(loaded, caller);
  const { path, initialSkill, skillSource, projectFile, isRunNamed, promptOverrides } = wiring;
  const config = { ...wiring.config, outRoot: shownPath(path) };
  const isNew = await isMissing(path);
  return withEnv(wiring.env, parseConfig(config), async () => {
    const env = overlayEnv(wiring.env, { setup: undefined, close: undefined } as object); // it is set up already
    const skill = initialSkill === undefined ? {} : { initialSkill, skillSource };
    const trainer = { config, env, ...models, promptOverrides, projectFile, isRunNamed, ...skill };
    return work({
      path,
      isNew,
      warnings: wiring.warnings,
      trainer,
      estimate: () => estimateWiring(loaded, { ...wiring, env }),
    });
  });
}

const isMissing = (path: string) =>
  loadRun(path).then(
    ({ state }) => state.config === undefined,
    () => false,
  );
