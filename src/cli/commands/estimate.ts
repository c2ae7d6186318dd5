import { estimateWiring, wireRun } from '../../app/index.ts';
import { findUnnamed, loadProject } from '../../project/index.ts';
import { type CostEstimate, estimateLines } from '../../report/index.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { setOption } from '../flags/flags.ts';
import { addTrainFlags, typedSettings } from '../flags/project-flags.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = Readonly<Record<string, unknown>> & { readonly config?: string; readonly set: readonly string[] };

export const define: DefineCommand = (command, terminal) => {
  command
    .option('--config <path>', 'project file (default: skillopt.config.yaml, .json, .mjs or .ts in this folder)')
    .option('--json', 'one JSON object on stdout');
  command.addOption(setOption());
  addTrainFlags(command);
  command.addHelpText('after', EXAMPLES).action((flags: Flags) => estimate(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt estimate', 'calls, tokens and dollars of this project, before anything is spent'],
  ['skillopt estimate --num-epochs 2 --target openai:MODEL', 'with other settings'],
]);

async function estimate(flags: Flags, terminal: Terminal): Promise<void> {
  const { config, set: overrides } = flags;
  const loaded = await loadProject({ ...typedSettings(flags), config, overrides, cwd: terminal.io.cwd() });
  loaded.notes.forEach(terminal.note);
  loaded.warnings.forEach(terminal.warn);
  const unnamed = await findUnnamed(loaded);
  const wiring = await wireRun(loaded);
  [...wiring.warnings, ...(wiring.env.warnings ?? [])].forEach(terminal.warn);
  const costs: CostEstimate = await estimateWiring(loaded, wiring);
  if (unnamed.length > 0) terminal.note(unnamedLine(unnamed));
  terminal.answer(costs, estimateLines(costs, terminal));
}

function unnamedLine(roles: readonly string[]): string {
  const flags = roles.map((role) => `--${role} PROVIDER:MODEL`).join(' ');
  return `no ${roles.join(' and no ')} model is named, so that the cost is not known; train needs ${flags}`;
}
