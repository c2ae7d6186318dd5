import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  type FinishedNight,
  findRun,
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
import { strip } from '../core/text/index.ts';
import { type DocumentReport, nightLines, reportLines, type SleepReport } from '../report/index.ts';
import { type Proposal, readSleepState } from '../sleep/index.ts';
import { shownPath } from '../stores/index.ts';
import { Answered, interruptible, StoppedRun } from './errors.ts';
import { placeOfNights, runPlace } from './night-runs.ts';
import { openProgress } from './progress/progress.ts';
import { commandFor, nightCommand, nightCommands } from './sleep/proposals.ts';
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

/** A night that is over, in the words of its report, and what can be done about it now. Machines get its first run too. */
export async function reportNight(
  { name, folder, report }: FinishedNight,
  root: string,
  terminal: Terminal,
): Promise<void> {
  const { cwd, stateFolder } = placeOfNights(terminal);
  const isTrained = existsSync(join(folder, 'events.jsonl'));
  const run = isTrained ? runAnswer(await findRun(...runPlace(name, root, terminal)), { cwd }) : {};
  const { proposals } = await readSleepState(stateFolder);
  const mine = proposals.filter(({ night, project }) => night === report.night && project === report.project);
  const behind = [
    [`skillopt diff ${name}`, 'what its search changed'],
    [`skillopt show ${name} --all`, 'every edit that it tried'],
  ] as const;
  const commands = [...currentCommands(report, mine, terminal), ...(isTrained ? behind : [])];
  const options = { folder: shownPath(folder), isDryRun: false, commands };
  terminal.answer({ ...run, report }, nightLines(asReviewed(report, mine), options, terminal));
}

/** Shows what a person kept of a proposal instead of what the night proposed. */
function asReviewed(report: SleepReport, proposals: readonly Proposal[]): SleepReport {
  const keptOf = ({ path, after, isStaged }: DocumentReport) =>
    proposals.find(({ document, block }) => isStaged && document.path === path && strip(block) !== strip(after));
  const reviewed = report.documents.filter(keptOf).map(({ name }) => name);
  if (reviewed.length === 0) return report;
  const note = `Reviewed since the night: ${reviewed.join(', ')}. The change and its gain are what was kept; the tasks stand as the night has measured them.`;
  const documents = report.documents.map((one) => {
    const kept = keptOf(one);
    return kept ? { ...one, after: kept.block, gain: kept.gain, test: null } : one;
  });
  return { ...report, documents, notes: [...report.notes, note] };
}

/** What was staged may have been adopted, rolled back or superseded since. */
function currentCommands(report: SleepReport, proposals: readonly Proposal[], terminal: Terminal) {
  const having = (wanted: Proposal['status']) => proposals.filter(({ status }) => status === wanted);
  const [adopted, again] = [having('adopted'), having('rolled_back')];
  return [
    ...nightCommands(report, having('pending'), terminal),
    ...(adopted[0] ? [[nightCommand(adopted[0], terminal, 'rollback'), 'undo what was adopted'] as const] : []),
    ...again.map((one) => [commandFor(one, terminal), 'adopt again what was rolled back'] as const),
  ];
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

const PASSING = ['ENV_FAILED', 'QUEUE_UNREACHABLE'];
const isPassing = (error: unknown) => error instanceof SkillError && PASSING.includes(error.code);
const isResumable = (error: unknown) => error instanceof ModelCallError || isOutOfBudget(error) || isPassing(error);

/** An exhausted budget has a hint of its own. */
const howToResume = (error: unknown) => (isOutOfBudget(error) ? '' : ': run the same command again to resume');

/** The project file that a run was begun with, as it is named in `cwd`. */
export const projectFileOf = ({ path, state: { projectFile } }: LoadedRun, cwd: string): string | undefined =>
  projectFile === undefined ? undefined : shownPath(resolve(path, projectFile), cwd);
