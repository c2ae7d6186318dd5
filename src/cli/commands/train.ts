import { capWarnings, openRun, requireWithinCaps } from '../../app/index.ts';
import { agentTargetOf, type Project } from '../../project/index.ts';
import { type CostEstimate, estimateLine } from '../../report/index.ts';
import { configOption, jsonOption, quietOption, setOption } from '../flags/flags.ts';
import { limitsAsFlags } from '../flags/in-flags.ts';
import { addTrainFlags, type ProjectFlags, typedProject } from '../flags/project-flags.ts';
import { trainShown } from '../report-run.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = ProjectFlags & { readonly fresh?: boolean; readonly ignoreEstimate?: boolean };

export const define: DefineCommand = (command, terminal) => {
  command
    .addOption(configOption())
    .option('--fresh', 'start over; the run that is there is moved aside, its paid replies are used again')
    .option('--ignore-estimate', 'start even if a limit is below the minimum that the run needs')
    .addOption(quietOption())
    .addOption(jsonOption())
    .addOption(setOption());
  addTrainFlags(command);
  command.addHelpText('after', EXAMPLES).action((flags: Flags) => train(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt train', 'train, or resume where the run stopped'],
  ['skillopt train --max-cost-usd 5 --max-calls 2000', 'limits that hold; the run resumes with more'],
  ['skillopt train --fresh --seed 7', 'a new run with another seed'],
  ['skillopt train --target openai:MODEL', 'another model than the file names'],
  ['skillopt train --config searchqa.yaml', 'a config of SkillOpt, as it is'],
  ['skillopt train --json > summary.json', 'for machines; progress stays on stderr'],
]);

async function train(flags: Flags, terminal: Terminal): Promise<void> {
  const { fresh: isFresh = false, quiet: isQuiet = false, ignoreEstimate = false } = flags;
  const loaded = await typedProject(flags, terminal);
  if (!isQuiet) loaded.notes.forEach(terminal.note);
  await using run = await openRun(loaded, { env: terminal.io.env, notices: terminal });
  if (run.isNew || isFresh) announceCost(await run.estimate(), loaded.project, { isQuiet, ignoreEstimate, terminal });
  const hasAgent = agentTargetOf(loaded.project) !== undefined;
  await trainShown(run.path, { isQuiet, hasAgent }, terminal, (watching) => run.train({ isFresh, ...watching }));
}

type Announcement = { readonly isQuiet: boolean; readonly ignoreEstimate: boolean; readonly terminal: Terminal };

/** What a new run will ask for, before it asks for anything. */
function announceCost(costs: CostEstimate, caps: Project, { isQuiet, ignoreEstimate, terminal }: Announcement): void {
  if (!ignoreEstimate) requireWithinCaps(costs, caps);
  if (!isQuiet) terminal.say(estimateLine(costs));
  for (const warning of capWarnings(costs, caps)) terminal.warn(limitsAsFlags(warning));
}
