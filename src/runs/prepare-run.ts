import { parseConfig } from '../core/config.ts';
import type { SkillEnv } from '../core/env.ts';
import type { LoadedProject } from '../project/load-project.ts';
import { type Caller, resolveModels } from '../project/models/resolve-models.ts';
import { shownPath } from '../stores/shown-path.ts';
import type { TrainerOptions } from '../train/index.ts';
import { withEnv } from '../train/setup/with-env.ts';
import { type CostEstimate, estimateWiring } from './estimate-project.ts';
import { loadRun } from './load-run.ts';
import { wireRun } from './wire-run.ts';

/** A project that is ready to be trained. */
export type PreparedRun = {
  /** The run directory, absolute. */
  readonly path: string;
  /** No run is there yet. One that cannot be read is not new; training says what is wrong with it. */
  readonly isNew: boolean;
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
  const { path, initialSkill, skillSource, promptOverrides } = wiring;
  const config = { ...wiring.config, outRoot: shownPath(path) };
  const isNew = await isMissing(path);
  return withEnv(wiring.env, parseConfig(config), async () => {
    const env = withoutSetup(wiring.env);
    const skill = initialSkill === undefined ? {} : { initialSkill, skillSource };
    const trainer = { config, env, ...models, promptOverrides, ...skill };
    return work({ path, isNew, trainer, estimate: () => estimateWiring(loaded, { ...wiring, env }) });
  });
}

/** The same environment, already set up. It may be an instance of a class with private fields, so that it is not copied. */
function withoutSetup(env: SkillEnv): SkillEnv {
  return new Proxy(env, {
    get(target, key) {
      if (key === 'setup' || key === 'close') return undefined;
      const value = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const isMissing = (path: string) =>
  loadRun(path).then(
    ({ state }) => state.config === undefined,
    () => false,
  );
