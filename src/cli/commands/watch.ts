import {
  type FollowEnd,
  findRun,
  followRun,
  type LoadedRun,
  liveRun,
  loadRun,
  standingOf,
  type TakenUp,
} from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { type RunObserver, type RunState, stepTotal, verdictOf } from '../../core/run/index.ts';
import { jsonLine } from '../../core/text/index.ts';
import { Answered, interruptible } from '../errors.ts';
import { rootOption } from '../flags/flags.ts';
import { nameProject } from '../named-project.ts';
import { runPlace } from '../night-runs.ts';
import { openProgress } from '../progress/progress.ts';
import { projectFileOf, reportRun } from '../report-run.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('[run]', 'name of a run or a night, or its path (default: the one at work, or the only one)')
    .addOption(rootOption())
    .option('--json', 'one JSON object a line: each event, each task that is done, and the end')
    .addHelpText('after', EXAMPLES)
    .action(async (given: string | undefined, { root }: { readonly root: string }) =>
      watch(given ?? (await liveRun({ cwd: terminal.io.cwd(), root })), root, terminal),
    );
};

const EXAMPLES = `${examples([
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
  try {
    const end = await interruptible({ io: terminal.io, onStop: () => {} }, (signal) =>
      followRun(run.path, { ...silent, ...watcher, onOpen }, signal),
    );
    progress.close();
    await finish(end === 'moved' ? run : await loadRun(run.path), end, terminal);
  } finally {
    progress.close();
  }
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
  };
}

const WORDS: Readonly<Record<FollowEnd, string>> = {
  done: 'the run is over',
  dead: 'nobody is at work on this run any more; start it again to resume: skillopt train',
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
