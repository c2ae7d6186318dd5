import {
  capWarnings,
  estimateProject,
  type FollowEnd,
  findRun,
  followRun,
  type LoadedRun,
  liveRun,
  loadRun,
  openRun,
  requireWithinCaps,
  standingOf,
  type TakenUp,
} from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { noticing, type RunObserver, type RunState, stepTotal, verdictOf } from '../../core/run/index.ts';
import { jsonLine } from '../../core/text/index.ts';
import { agentTargetOf, findUnnamed, type Project } from '../../project/index.ts';
import { type CostEstimate, estimateLine, estimateLines } from '../../report/index.ts';
import { Answered, interruptible } from '../errors.ts';
import { configOption, jsonOption, quietOption, rootOption, setOption } from '../flags/flags.ts';
import { limitsAsFlags } from '../flags/in-flags.ts';
import { addTrainFlags, type ProjectFlags, queueOf, queueOption, typedProject } from '../flags/project-flags.ts';
import { nameProject } from '../named-project.ts';
import { runPlace } from '../night-runs.ts';
import { openProgress } from '../progress/progress.ts';
import { projectFileOf, reportRun, trainShown } from '../report-run.ts';
import { type DefineCommand, examples, type OptionalFlags } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type TrainFlags = ProjectFlags & OptionalFlags<'queue', 'fresh' | 'force' | 'ignoreEstimate'>;

export const defineTrain: DefineCommand = (command, terminal) => {
  command
    .addOption(configOption())
    .option('--fresh', 'start over; the run that is there is moved aside, its paid replies are used again')
    .option('--force', 'start even with tasks from which no true number can be measured')
    .option('--ignore-estimate', 'start even if a limit is below the minimum that the run needs')
    .addOption(queueOption())
    .addOption(quietOption())
    .addOption(jsonOption())
    .addOption(setOption());
  addTrainFlags(command);
  command.addHelpText('after', TRAIN_EXAMPLES).action((flags: TrainFlags) => train(flags, terminal));
};

const TRAIN_EXAMPLES = examples([
  ['skillopt train', 'train, or resume where the run stopped'],
  ['skillopt train --max-cost-usd 5 --max-calls 2000', 'limits that hold; the run resumes with more'],
  ['skillopt train --fresh --seed 7', 'a new run with another seed'],
  ['skillopt train --target openai:MODEL', 'another model than the file names'],
  ['skillopt train --config searchqa.yaml', 'a config of SkillOpt, as it is'],
  ['skillopt train --json > summary.json', 'for machines; progress stays on stderr'],
]);

async function train(flags: TrainFlags, terminal: Terminal): Promise<void> {
  const { fresh: isFresh = false, force: isForced = false, quiet: isQuiet = false } = flags;
  const queue = queueOf(flags, terminal);
  const loaded = await typedProject(flags, terminal);
  if (!isQuiet) loaded.notes.forEach(terminal.note);
  await using run = await openRun(loaded, { env: terminal.io.env, notices: terminal }, { isFresh, isForced, queue });
  if (run.isNew || isFresh) announceCost(await run.estimate(), loaded.project, flags, terminal);
  const hasAgent = agentTargetOf(loaded.project) !== undefined;
  await trainShown(run.path, { isQuiet, hasAgent }, terminal, (watching) => run.train({ isFresh, ...watching }));
}

/** What a new run will ask for, before it asks for anything. */
function announceCost(costs: CostEstimate, caps: Project, flags: TrainFlags, terminal: Terminal): void {
  if (!flags.ignoreEstimate) requireWithinCaps(costs, caps);
  if (!flags.quiet) terminal.say(estimateLine(costs));
  for (const warning of capWarnings(costs, caps)) terminal.warn(limitsAsFlags(warning));
}

export const defineEstimate: DefineCommand = (command, terminal) => {
  command.addOption(configOption()).addOption(jsonOption()).addOption(setOption());
  addTrainFlags(command);
  command.addHelpText('after', ESTIMATE_EXAMPLES).action((flags: ProjectFlags) => estimate(flags, terminal));
};

const ESTIMATE_EXAMPLES = examples([
  ['skillopt estimate', 'calls, tokens and dollars of this project, before anything is spent'],
  ['skillopt estimate --num-epochs 2 --target openai:MODEL', 'with other settings'],
]);

async function estimate(flags: ProjectFlags, terminal: Terminal): Promise<void> {
  const loaded = await typedProject(flags, terminal);
  loaded.notes.forEach(terminal.note);
  const unnamed = await findUnnamed(loaded);
  const costs = await estimateProject(loaded, terminal);
  if (unnamed.length > 0) terminal.note(unnamedLine(unnamed));
  terminal.answer(costs, estimateLines(costs, terminal));
}

function unnamedLine(roles: readonly string[]): string {
  const flags = roles.map((role) => `--${role} PROVIDER:MODEL`).join(' ');
  return `no ${roles.join(' and no ')} model is named, so the cost is not known; train needs ${flags}`;
}

export const defineWatch: DefineCommand = (command, terminal) => {
  command
    .argument('[run]', 'name of a run or a night, or its path (default: the one at work, or the only one)')
    .addOption(rootOption())
    .option('--json', 'one JSON object a line: each event, each task that is done, retries, pauses, and the end')
    .addHelpText('after', WATCH_EXAMPLES)
    .action(async (given: string | undefined, { root }: { readonly root: string }) =>
      watch(given ?? (await liveRun({ cwd: terminal.io.cwd(), root })), root, terminal),
    );
};

const WATCH_EXAMPLES = `${examples([
  ['skillopt watch', 'the run that is at work in this folder'],
  ['skillopt watch starter', 'the live view of a run that was started elsewhere; Ctrl-C leaves it alone'],
  ['skillopt watch starter > run.log 2>&1', 'plain lines, a task each, and the report at the end'],
  ['skillopt watch starter --json', 'for machines'],
])}

exit codes: 0 the run is over, or you left; 1 nobody is at work on it any more`;

async function watch(name: string, root: string, terminal: Terminal): Promise<void> {
  const run = await findRun(...runPlace(name, root, terminal)).catch(sayThatItMayCome);
  if (run.state.isDone) return finish(run, 'done', terminal);
  const progress = openProgress(terminal, { isQuiet: terminal.isJson, isWatched: true });
  const watcher: Watcher = terminal.isJson ? jsonWatcher(terminal) : progress;
  const onOpen = (state: RunState, takenUp?: TakenUp) => {
    watcher.onOpen?.(state, takenUp);
    if (!terminal.isJson)
      terminal.say(`watching ${name}: step ${state.stepsDone} of ${stepTotal(state)}; Ctrl-C leaves the run alone`);
  };
  const end = await interruptible({ io: terminal.io, onStop: () => {} }, (signal) =>
    followRun(run.path, { ...silent, ...watcher, onOpen }, signal),
  ).finally(progress.close);
  await finish(end === 'moved' ? run : await loadRun(run.path), end, terminal);
}

/** A run is there from its first event on, which comes after tasks and models were looked at. */
function sayThatItMayCome(error: unknown): never {
  if (!(error instanceof SkillError && error.code === 'RUN_NOT_FOUND')) throw error;
  const hint = [error.hint, 'If its training is just starting, try again in a moment.'].join('. ');
  throw new SkillError(error.code, error.message, { cause: error, hint });
}

type Watcher = Omit<RunObserver, 'onOpen'> & { onOpen?(state: RunState, takenUp?: TakenUp): void };

const silent = { onOpen: () => {}, onEvent: () => {}, onProgress: () => {} };

function jsonWatcher({ io }: Terminal): RunObserver {
  const line = (value: object) => void io.stdout.write(`${jsonLine(value)}\n`);
  return {
    onOpen: ({ stepsDone, totalSteps, isDone }) => line({ type: 'open', stepsDone, totalSteps, isDone }),
    onEvent: (event) => line(event),
    onProgress: (progress) => line({ ...progress, type: 'progress' }),
    ...noticing(line),
  };
}

const WORDS: Readonly<Record<FollowEnd, string>> = {
  done: 'the run is over',
  dead: 'nobody is at work on this run any more',
  moved: 'the run was moved or deleted',
  left: 'no longer watching; the run continues',
};

async function finish(run: LoadedRun, end: FollowEnd, terminal: Terminal): Promise<void> {
  const hasReport = end === 'done' || end === 'dead';
  if (terminal.isJson) {
    const verdict = verdictOf(run.state, await standingOf(run));
    terminal.io.stdout.write(`${jsonLine({ type: 'end', reason: end, ...(hasReport ? { verdict } : {}) })}\n`);
  } else if (hasReport) await reportRun(run, terminal);
  if (end !== 'done') terminal.say(nameProject(WORDS[end], projectFileOf(run, terminal.io.cwd())));
  if (end === 'dead' || end === 'moved') throw new Answered(1);
}
