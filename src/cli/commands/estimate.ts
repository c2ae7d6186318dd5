import { estimateProject } from '../../app/index.ts';
import { findUnnamed } from '../../project/index.ts';
import { estimateLines } from '../../report/index.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { configOption, jsonOption, setOption } from '../flags/flags.ts';
import { addTrainFlags, typedProject } from '../flags/project-flags.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = Readonly<Record<string, unknown>> & { readonly config?: string; readonly set: readonly string[] };

export const define: DefineCommand = (command, terminal) => {
  command.addOption(configOption()).addOption(jsonOption());
  command.addOption(setOption());
  addTrainFlags(command);
  command.addHelpText('after', EXAMPLES).action((flags: Flags) => estimate(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt estimate', 'calls, tokens and dollars of this project, before anything is spent'],
  ['skillopt estimate --num-epochs 2 --target openai:MODEL', 'with other settings'],
]);

async function estimate(flags: Flags, terminal: Terminal): Promise<void> {
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
