import { loadRun, standingOf } from '../../app/index.ts';
import { ModelCallError, SkillError } from '../../core/contracts/index.ts';
import { isNothingRead, type RunStore } from '../../core/run/index.ts';
import { archiveRun, clearCache, runDirectory, shownPath } from '../../stores/index.ts';
import { SkillOptTrainer, type TrainerOptions } from '../../train/index.ts';
import { Answered } from '../answered.ts';
import { interruptible } from '../interrupt.ts';
import { openProgress } from '../progress/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { reportRun, runAnswer } from './run-report.ts';
import { StoppedRun } from './stopped-run.ts';

export type TrainRunOptions = {
  /** The run directory, absolute. */
  readonly path: string;
  readonly isFresh?: boolean;
  readonly isQuiet?: boolean;
  /** With `isFresh`: also replies are asked for again. */
  readonly isCacheCleared?: boolean;
  readonly trainer: Omit<TrainerOptions, 'store' | 'observers' | 'signal'>;
};

/** Trains with progress on stderr, stops on Ctrl-C, and answers with the report. */
export async function trainRun(
  { path, isFresh = false, isQuiet = false, isCacheCleared = false, trainer }: TrainRunOptions,
  terminal: Terminal,
): Promise<void> {
  const shown = shownPath(path, terminal.io.cwd());
  const progress = openProgress(terminal, { isQuiet });
  const directory = { ...runDirectory(path), name: shown };
  const onArchived = (aside: string) => progress.log(`the old run is now ${shownPath(aside, terminal.io.cwd())}`);
  const store = isFresh
    ? freshStore(directory, { path, isCacheCleared, areScoresKept: trainer.env.isVersionWhole, onArchived })
    : directory;
  const config = { ...trainer.config, outRoot: shown };
  try {
    const summary = await interruptible(
      { io: terminal.io, onStop: progress.log, hasAgent: trainer.agent !== undefined },
      (signal) => new SkillOptTrainer({ ...trainer, config, store, observers: [progress], signal }).train(),
    );
    progress.close();
    const run = await loadRun(path);
    await reportRun(run, terminal, { warnings: summary.warnings });
    if (isNothingRead(run.state.answers)) throw new Answered(1);
  } catch (error) {
    const run = isOutOfBudget(error) ? await loadRun(path) : undefined;
    progress.close();
    if (run && !terminal.isJson) await reportRun(run, terminal);
    if (isResumable(error)) progress.log(`the run is kept in ${shown}${howToGoOn(error)}`);
    if (!run || !isOutOfBudget(error)) throw error;
    throw new StoppedRun(error, runAnswer(run, terminal, { standing: await standingOf(run) }));
  } finally {
    progress.close();
  }
}

const isOutOfBudget = (error: unknown): error is SkillError =>
  error instanceof SkillError && error.code === 'BUDGET_EXHAUSTED';
const isResumable = (error: unknown) => error instanceof ModelCallError || isOutOfBudget(error) || isEnvFailed(error);
const isEnvFailed = (error: unknown) => error instanceof SkillError && error.code === 'ENV_FAILED';

/** To which limit, the error says. */
const howToGoOn = (error: unknown) => (isOutOfBudget(error) ? '' : ': run the same command again to resume');

type FreshOptions = {
  readonly path: string;
  readonly isCacheCleared: boolean;
  /** Whether attempts are used again, and not replies alone. */
  readonly areScoresKept: boolean | undefined;
  readonly onArchived: (aside: string) => void;
};

/** Looks empty, and moves the old run aside when it is opened: by then the input has been checked. */
function freshStore(store: RunStore, { path, isCacheCleared, areScoresKept, onArchived }: FreshOptions): RunStore {
  return {
    name: store.name,
    read: async () => [],
    async open(options) {
      const aside = await archiveRun(path, { areScoresKept });
      if (aside !== undefined) onArchived(aside);
      if (isCacheCleared) await clearCache(path);
      return store.open(options);
    },
  };
}
