import { findRun } from '../../runs/load-run.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { reportRun } from '../report/run-report.ts';

type Flags = { readonly root: string; readonly all?: boolean };

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('<run>', 'name of a run, or its path')
    .option('--root <dir>', 'folder of runs', 'runs')
    .option('--all', 'every edit, in full')
    .option('--json', 'one JSON object on stdout')
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, { root, all = false }: Flags) => {
      const run = await findRun(name, { cwd: terminal.io.cwd(), root });
      reportRun(run, terminal, { isComplete: all });
    });
};

const EXAMPLES = examples([
  ['skillopt show demo', 'what the run runs/demo came to'],
  ['skillopt show demo --all', 'with every edit in full'],
  ['skillopt show /tmp/elsewhere --json', 'a run by path, for machines'],
]);
