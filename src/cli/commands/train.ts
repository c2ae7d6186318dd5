import { configOption, jsonOption, quietOption, setOption } from '../flags/flags.ts';
import { addTrainFlags } from '../flags/project-flags.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { TrainFlags } from '../train.ts';

export const define: DefineCommand = (command, terminal) => {
  command
    .addOption(configOption())
    .option('--fresh', 'start over; the run that is there is moved aside, its paid replies are used again')
    .option('--ignore-estimate', 'start even if a limit is below the minimum that the run needs')
    .addOption(quietOption())
    .addOption(jsonOption())
    .addOption(setOption());
  addTrainFlags(command);
  command
    .addHelpText('after', EXAMPLES)
    .action(async (flags: TrainFlags) => (await import('../train.ts')).train(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt train', 'train, or resume where the run stopped'],
  ['skillopt train --max-cost-usd 5 --max-calls 2000', 'limits that hold; the run resumes with more'],
  ['skillopt train --fresh --seed 7', 'a new run with another seed'],
  ['skillopt train --target openai:MODEL', 'another model than the file names'],
  ['skillopt train --config searchqa.yaml', 'a config of SkillOpt, as it is'],
  ['skillopt train --json > summary.json', 'for machines; progress stays on stderr'],
]);
