import { dirname, join, resolve } from 'node:path';
import {
  type LoadedRun,
  loadQueries,
  loadRun,
  runAnswer,
  standingOf,
  type TrainedRun,
  type TrainOptions,
  triggerFigures,
  wholeAnswer,
} from '../app/index.ts';
import { isOutOfBudget, ModelCallError, SkillError } from '../core/contracts/index.ts';
import { verdictOf } from '../core/run/index.ts';
import { reportLines } from '../report/index.ts';
import { shownPath } from '../stores/index.ts';
import { Answered, interruptible, StoppedRun } from './errors.ts';
import { openProgress } from './progress/progress.ts';
import type { Terminal } from './terminal/terminal.ts';

type ReportSettings = {
  readonly warnings?: readonly string[];
  readonly isComplete?: boolean;
  /** The night that the run belongs to, when that is over. */
  readonly night?: string | undefined;
  /** What it is called by; else its name below `runs`, or its path. */
  readonly called?: string;
};

export async function reportRun(run: LoadedRun, terminal: Terminal, settings: ReportSettings = {}): Promise<void> {
  const { warnings = [], isComplete = false, night, called } = settings;
  const cwd = terminal.io.cwd();
  const standing = await standingOf(run);
  const source = run.state.skillSource?.path;
  const answer = runAnswer(run, { cwd, warnings, standing });
  const lines = reportLines(run.state, {
    ...standing,
    run: called ?? (dirname(run.path) === join(cwd, 'runs') ? run.name : answer.outRoot),
    path: answer.outRoot,
    night,
    trigger: triggerFigures(run.state),
    names: await loadQueries(run),
    bestSkillPath: answer.bestSkillPath,
    projectFile: projectFileOf(run, cwd),
    skillFile: source === undefined ? undefined : shownPath(resolve(run.path, source), cwd),
    width: terminal.lineWidth,
    colors: terminal.colors,
    called: terminal.called,
    isComplete,
  });
  terminal.answer(terminal.isJson ? await wholeAnswer(run, { cwd, warnings, standing }) : answer, lines);
}

type ShownTraining = { readonly isQuiet?: boolean | undefined; readonly hasAgent?: boolean };

/** Trains with progress on stderr, stops on Ctrl-C, and answers with the report. */
export async function trainShown(
  path: string,
  { isQuiet = false, hasAgent = false }: ShownTraining,
  terminal: Terminal,
  train: (watching: TrainOptions) => Promise<TrainedRun>,
): Promise<void> {
  const cwd = terminal.io.cwd();
  const progress = openProgress(terminal, { isQuiet });
  const onArchived = (aside: string) => progress.log(`the old run is now ${shownPath(aside, cwd)}`);
  try {
    const { run, summary } = await interruptible({ io: terminal.io, onStop: progress.log, hasAgent }, (signal) =>
      train({ observers: [progress], signal, cwd, onArchived }),
    ).finally(progress.close);
    await reportRun(run, terminal, { warnings: summary.warnings });
    if (verdictOf(run.state).kind === 'broken') throw new Answered(1);
  } catch (error) {
    const run = isOutOfBudget(error) ? await loadRun(path) : undefined;
    if (run && !terminal.isJson) await reportRun(run, terminal);
    if (isResumable(error)) progress.log(`the run is kept in ${shownPath(path, cwd)}${howToResume(error)}`);
    if (!run || !isOutOfBudget(error)) throw error;
    throw new StoppedRun(error, await wholeAnswer(run, { cwd, standing: await standingOf(run) }));
  }
}

const isEnvFailed = (error: unknown) => error instanceof SkillError && error.code === 'ENV_FAILED';
const isResumable = (error: unknown) => error instanceof ModelCallError || isOutOfBudget(error) || isEnvFailed(error);

/** An exhausted budget has a hint of its own. */
const howToResume = (error: unknown) => (isOutOfBudget(error) ? '' : ': run the same command again to resume');

/** The project file that a run was begun with, as it is named in `cwd`. */
export const projectFileOf = ({ path, state: { projectFile } }: LoadedRun, cwd: string): string | undefined =>
  projectFile === undefined ? undefined : shownPath(resolve(path, projectFile), cwd);
