import { findRun, finishedNight, isNight, loadAttempts, onlyRun } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { attemptLines } from '../../report/index.ts';
import { jsonOption, readOrdinal, rootOption } from '../flags/flags.ts';
import { placeOfNights, runPlace } from '../night-runs.ts';
import { reportRun } from '../report-run.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = { readonly root: string; readonly all?: boolean; readonly task?: string; readonly step?: number };

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('[run]', 'name of a run or a night, or its path (default: the only run)')
    .addOption(rootOption())
    .option('--all', 'show everything, every edit in full')
    .option('--task <id>', 'the attempts at one task: what was done, and how it was judged')
    .option('--step <n>', 'with --task: the attempts of one step', readOrdinal('the number of a step, from 1'))
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (given: string | undefined, flags: Flags) => {
      const { root, all = false, task, step } = flags;
      if (step !== undefined && task === undefined) throw stepWithoutTask(step);
      const name = given ?? (await onlyRun({ cwd: terminal.io.cwd(), root }));
      if (task !== undefined) return showTask(name, flags, terminal);
      const night = await finishedNight(name, placeOfNights(terminal));
      if (night?.name === name && !all)
        return (await import('../sleep/show-night.ts')).showNight(night, root, terminal);
      const run = await findRun(...runPlace(name, root, terminal));
      const called = isNight(name) ? { called: name } : {};
      await reportRun(run, terminal, { isComplete: all, night: night?.name, ...called });
    });
};

async function showTask(name: string, { root, task = '', step, all = false }: Flags, terminal: Terminal) {
  const run = await findRun(...runPlace(name, root, terminal));
  const attempts = await loadAttempts(run, { task, step });
  terminal.answer({ name: run.name, task, attempts }, attemptLines(task, attempts, { ...terminal, isComplete: all }));
}

function stepWithoutTask(step: number): SkillError {
  const hint = `For example: skillopt show RUN --task ID --step ${step}. What a step changed: skillopt diff RUN ${step - 1} ${step}`;
  return new SkillError('USAGE', '--step needs --task: it shows the attempts of one step at one task', { hint });
}

const EXAMPLES = examples([
  ['skillopt show demo', 'what the run runs/demo came to'],
  ['skillopt show night-3', 'the third night of this project, as skillopt runs names it'],
  ['skillopt show demo --all', 'with every edit in full'],
  ['skillopt show demo --task q7', 'the attempts at the task q7, the last one in full'],
  ['skillopt show /tmp/elsewhere --json', 'a run by path, for machines'],
]);
