import { estimateProject } from '../../app/index.ts';
import { findUnnamed } from '../../project/index.ts';
import { estimateLines } from '../../report/index.ts';
import { configOption, jsonOption, setOption } from '../flags/flags.ts';
import { addTrainFlags, type ProjectFlags, typedProject } from '../flags/project-flags.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const define: DefineCommand = (command, terminal) => {
  command.addOption(configOption()).addOption(jsonOption()).addOption(setOption());
  addTrainFlags(command);
  command.addHelpText('after', EXAMPLES).action((flags: ProjectFlags) => estimate(flags, terminal));
};

const EXAMPLES = examples([
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
