import { filesOf } from '../../runs/apply/planned-files.ts';
import { findRun, onlyRun } from '../../runs/load-run.ts';
import { versionFinder } from '../../runs/skill-version.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { runPlace } from '../night-runs.ts';
import { coloured, filesPatch } from '../report/patch.ts';

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('[run]', 'name of a run or a night, or its path (default: the only run)')
    .argument('[a]', 'initial, best, current, or a step', 'initial')
    .argument('[b]', 'the same', 'best')
    .option('--root <dir>', 'folder of runs', 'runs')
    .option('--json', 'one JSON object on stdout')
    .addHelpText('after', EXAMPLES)
    .action(async (given: string | undefined, from: string, to: string, { root }: { root: string }) => {
      const name = given ?? (await onlyRun({ cwd: terminal.io.cwd(), root }));
      const { watch, find } = versionFinder([from, to]);
      const { state } = await findRun(...runPlace(name, root, terminal), watch);
      const [before, after] = [from, to].map((version) => Object.entries(filesOf(state, find(version, state))));
      const patch = filesPatch({ from, to }, before!, after!);
      const isChanged = patch !== '';
      const lines = isChanged ? coloured(patch, terminal.colors) : [`no difference between ${from} and ${to}`];
      terminal.answer({ run: name, from, to, isChanged, patch }, lines);
    });
};

const EXAMPLES = examples([
  ['skillopt diff demo', 'what training changed'],
  ['skillopt diff demo 2 3', 'what step 3 changed'],
  ['skillopt diff demo best current', 'the best version against the last'],
]);
