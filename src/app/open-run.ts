import { parseConfig } from '../core/contracts/index.ts';
import type { RunObserver, RunStore, RunSummary } from '../core/run/index.ts';
import { type Caller, type LoadedProject, resolveModels } from '../project/index.ts';
import type { CostEstimate } from '../report/index.ts';
import { archiveRun, clearCache, runDirectory, shownPath } from '../stores/index.ts';
import { SkillOptTrainer, type TrainerOptions } from '../train/index.ts';
import { estimateWiring } from './estimate.ts';
import { type LoadedRun, loadRun } from './load-run.ts';
import { overlayEnv, wireRun } from './wire-run.ts';
import { workElsewhere } from './work-elsewhere.ts';

/** A project that is ready to be trained. `await using` closes its environment. */
export type OpenRun = AsyncDisposable & {
  /** The run directory, absolute. */
  readonly path: string;
  /** Whether the directory holds no run yet. An unreadable run is not new; training says what is wrong with it. */
  readonly isNew: boolean;
  /** What training will ask for. Makes no call. */
  estimate(): Promise<CostEstimate>;
  /** Trains, or resumes. Errors of models and limits leave a run that can be resumed. */
  train(options?: TrainOptions): Promise<TrainedRun>;
};

export type TrainOptions = {
  readonly observers?: readonly RunObserver[];
  readonly signal?: AbortSignal;
  /** Starts over: the existing run is moved aside. Its paid replies are used again. */
  readonly isFresh?: boolean;
  /** With `isFresh`: asks for replies again, too. */
  readonly isCacheCleared?: boolean;
  /** Paths are shown relative to this folder. */
  readonly cwd?: string;
  /** Called with the new path of the old run. */
  readonly onArchived?: (aside: string) => void;
};

export type TrainedRun = { readonly run: LoadedRun; readonly summary: RunSummary };

export type OpenOptions = {
  /** Whether it continues with tasks from which no true number can be measured. */
  readonly isForced?: boolean;
  /** Whether the run that is there will be moved aside. Otherwise a run that has begun is resumed. */
  readonly isFresh?: boolean;
  /** The address of a queue, if workers make the attempts. */
  readonly queue?: string | undefined;
};

/** Wires a project and sets up its environment once, for both the estimate and the run. */
export async function openRun(loaded: LoadedProject, caller: Caller, options: OpenOptions = {}): Promise<OpenRun> {
  const wiring = await wireRun(loaded);
  const models = await resolveModels(loaded, caller);
  const { path, initialSkill, skillSource, projectFile, isRunNamed, promptOverrides } = wiring;
  const config = { ...wiring.config, outRoot: shownPath(path) };
  const existing = await loadRun(path).catch(() => undefined);
  const isNew = existing !== undefined && existing.state.config === undefined;
  if (wiring.refusal && !options.isForced && (isNew || options.isFresh)) throw wiring.refusal;
  await wiring.env.setup?.(parseConfig(config));
  for (const warning of wiring.warnings) caller.notices?.warn(warning);
  const env = overlayEnv(wiring.env, { setup: undefined, close: undefined } as object); // it is set up already
  const skill = initialSkill === undefined ? {} : { initialSkill, skillSource };
  const elsewhere = await workElsewhere(
    loaded,
    { ...wiring, env },
    { agent: models.agent, queue: options.queue, caller },
  );
  const trainer = { config, env, ...models, ...elsewhere, promptOverrides, projectFile, isRunNamed, ...skill };
  return {
    path,
    isNew,
    estimate: () => estimateWiring(loaded, { ...wiring, env }),
    async train(options) {
      const trial = isNew || options?.isFresh ? await env.tryScoring?.() : undefined; // before anything is paid for
      if (trial?.warning !== undefined) caller.notices?.warn(trial.warning);
      return trainAt(path, trainer, options);
    },
    async [Symbol.asyncDispose]() {
      await elsewhere.runner?.close?.();
      await wiring.env.close?.();
    },
  };
}

type Trainer = Omit<TrainerOptions, 'store' | 'observers' | 'signal'>;

export async function trainAt(path: string, trainer: Trainer, options: TrainOptions = {}): Promise<TrainedRun> {
  const { isFresh, isCacheCleared, onArchived, cwd, observers = [], signal } = options;
  const shown = shownPath(path, cwd);
  const directory = { ...runDirectory(path), name: shown };
  // Looks empty, and moves the old run aside when it is opened: by then the input has been checked.
  const fresh: RunStore = {
    name: shown,
    read: async () => [],
    async open(opening) {
      const aside = await archiveRun(path, { areScoresKept: trainer.env.isVersionWhole });
      if (aside !== undefined) onArchived?.(aside);
      if (isCacheCleared) await clearCache(path);
      return directory.open(opening);
    },
  };
  const store = isFresh ? fresh : directory;
  const config = { ...trainer.config, outRoot: shown };
  const running = new SkillOptTrainer({ ...trainer, config, store, observers, ...(signal && { signal }) });
  const summary = await running.train();
  return { run: await loadRun(path), summary };
}
