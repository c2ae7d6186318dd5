import { attemptOf, filesOf, findRun, loadAttempts, onlyRun, versionFinder } from '../../app/index.ts';
import { printable } from '../../core/text/index.ts';
import { attemptText, coloured, filesPatch, foldPatch, listLines, patchOf } from '../../report/index.ts';
import { jsonOption, rootOption } from '../flags/flags.ts';
import { runPlace } from '../night-runs.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = { readonly root: string; readonly task?: string };

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('[run]', 'name of a run or a night, or its path (default: the only run)')
    .argument('[a]', 'initial, best, current, or a step', 'initial')
    .argument('[b]', 'the same', 'best')
    .option('--task <id>', 'compare the attempts at one task under the two versions')
    .addOption(rootOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (given: string | undefined, from: string, to: string, { root, task }: Flags) => {
      const name = given ?? (await onlyRun({ cwd: terminal.io.cwd(), root }));
      if (task !== undefined) return diffTask({ name, root, task, from, to }, terminal);
      const { watch, find } = versionFinder([from, to]);
      const { state } = await findRun(...runPlace(name, root, terminal), watch);
      const [before, after] = [from, to].map((version) => Object.entries(filesOf(state, find(version, state))));
      const patch = filesPatch({ from, to }, before!, after!);
      const isChanged = patch !== '';
      const lines = isChanged ? coloured(patch, terminal.colors) : [`no difference between ${from} and ${to}`];
      terminal.answer({ run: name, from, to, isChanged, patch }, lines);
    });
};

type TaskVersions = Readonly<Record<'name' | 'root' | 'task' | 'from' | 'to', string>>;

async function diffTask({ name, root, task, from, to }: TaskVersions, terminal: Terminal): Promise<void> {
  const run = await findRun(...runPlace(name, root, terminal));
  const attempts = await loadAttempts(run, { task });
  const [before, after] = [attemptOf(from, attempts, run.state), attemptOf(to, attempts, run.state)];
  const patch = patchOf({ from, to, before: attemptText(before.result), after: attemptText(after.result) });
  const folded = foldPatch(printable(patch), terminal.width);
  const shown = patch === '' ? ['what was done is the same in both'] : coloured(folded, terminal.colors);
  const head = [terminal.colors.bold(`task ${task}, ${from} and ${to}`), ...listLines([before, after], terminal), ''];
  terminal.answer({ run: name, task, from: before, to: after, patch }, [...head, ...shown]);
}

const EXAMPLES = examples([
  ['skillopt diff demo', 'what training changed'],
  ['skillopt diff demo 2 3', 'what step 3 changed'],
  ['skillopt diff demo best current', 'the best version against the last'],
  ['skillopt diff demo --task q7', 'what was done at the task q7 before and after training'],
]);
