import { findRun } from '../../runs/load-run.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { runPlace } from '../night-runs.ts';
import { reportRun } from '../report/run-report.ts';

type Flags = { readonly root: string; readonly all?: boolean };

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('<run>', 'name of a run or a night, or its path')
    .option('--root <dir>', 'folder of runs', 'runs')
    .option('--all', 'every edit, in full')
    .option('--json', 'one JSON object on stdout')
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, { root, all = false }: Flags) => {
      const run = await findRun(...runPlace(name, root, terminal));
      reportRun(run, terminal, { isComplete: all });
    });
};

const EXAMPLES = examples([
  ['skillopt show demo', 'what the run runs/demo came to'],
  ['skillopt show night-3', 'the third night of this project, as skillopt runs names it'],
  ['skillopt show demo --all', 'with every edit in full'],
  ['skillopt show /tmp/elsewhere --json', 'a run by path, for machines'],
]);
