import { type DefineCommand, examples } from '../define-command.ts';
import { loadProject } from '../project/load-project.ts';
import { projectInput, trainFlags } from '../project/project-flags.ts';
import { resolveModel } from '../project/resolve-model.ts';
import { wireRun } from '../project/wire-run.ts';
import { trainRun } from '../runs/train-run.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = Readonly<Record<string, unknown>> & { config?: string; fresh?: boolean; quiet?: boolean };

export const define: DefineCommand = (command, terminal) => {
  command
    .option('--config <path>', 'project file (default: skillopt.config.yaml, .json or .mjs in this folder)')
    .option('--fresh', 'start anew; the run that is there is moved aside, not deleted')
    .option('--quiet', 'no progress, only warnings and the result')
    .option('--json', 'one JSON object on stdout');
  for (const option of trainFlags()) command.addOption(option);
  command.addHelpText('after', EXAMPLES).action((flags: Flags) => train(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt train', 'train, or go on where the run stopped'],
  ['skillopt train --fresh --seed 7', 'a new run with another seed'],
  ['skillopt train --target openai:MODEL', 'another model than the file names'],
  ['skillopt train --json > summary.json', 'for machines; progress stays on stderr'],
]);

async function train(flags: Flags, terminal: Terminal): Promise<void> {
  const { io } = terminal;
  const loaded = await loadProject({ flags: projectInput(flags), config: flags.config, cwd: io.cwd() });
  const { env, config, path, initialSkill, promptOverrides } = await wireRun(loaded);
  const target = await resolveModel(loaded.project.target, {
    role: 'target',
    env: io.env,
    directory: loaded.directory,
  });
  const optimizer = await resolveModel(loaded.project.optimizer, {
    role: 'optimizer',
    env: io.env,
    directory: loaded.directory,
  });
  const skill = initialSkill === undefined ? {} : { initialSkill };
  const { fresh: isFresh = false, quiet: isQuiet = false } = flags;
  await trainRun(
    { path, isFresh, isQuiet, trainer: { config, env, target, optimizer, promptOverrides, ...skill } },
    terminal,
  );
}
