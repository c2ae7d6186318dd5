import { prepareRun } from '../../app/index.ts';
import { loadProject, type Project } from '../../project/index.ts';
import { type CostEstimate, estimateLine } from '../../report/index.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { capWarnings, requireWithinCaps } from '../estimate/cap.ts';
import { setOption } from '../flags/flags.ts';
import { addTrainFlags, typedSettings } from '../flags/project-flags.ts';
import { trainRun } from '../report/train-run.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = Readonly<Record<string, unknown>> & {
  readonly config?: string;
  readonly set: readonly string[];
  readonly fresh?: boolean;
  readonly quiet?: boolean;
  readonly ignoreEstimate?: boolean;
};

export const define: DefineCommand = (command, terminal) => {
  command
    .option('--config <path>', 'project file (default: skillopt.config.yaml, .json, .mjs or .ts in this folder)')
    .option('--fresh', 'start over; the run that is there is moved aside, its paid replies are used again')
    .option('--ignore-estimate', 'start even when a limit is below the least that the run can need')
    .option('--quiet', 'no progress, only warnings and the result')
    .option('--json', 'one JSON object on stdout');
  command.addOption(setOption());
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
  const { io } = terminal;
  const loaded = await loadProject({
    ...typedSettings(flags),
    config: flags.config,
    overrides: flags.set,
    cwd: io.cwd(),
  });
  if (!flags.quiet) loaded.notes.forEach(terminal.note);
  loaded.warnings.forEach(terminal.warn);
  const { fresh: isFresh = false, quiet: isQuiet = false, ignoreEstimate = false } = flags;
  await prepareRun(loaded, { env: io.env, notices: terminal }, async ({ path, trainer, isNew, warnings, estimate }) => {
    warnings.forEach(terminal.warn);
    if (isNew || isFresh) announceCost(await estimate(), loaded.project, { isQuiet, ignoreEstimate, terminal });
    await trainRun({ path, isFresh, isQuiet, trainer }, terminal);
  });
}

type Announcement = { readonly isQuiet: boolean; readonly ignoreEstimate: boolean; readonly terminal: Terminal };

/** What a new run will ask for, before it asks for anything. */
function announceCost(costs: CostEstimate, caps: Project, { isQuiet, ignoreEstimate, terminal }: Announcement): void {
  if (!ignoreEstimate) requireWithinCaps(costs, caps);
  if (!isQuiet) terminal.say(estimateLine(costs));
  capWarnings(costs, caps).forEach(terminal.warn);
}
