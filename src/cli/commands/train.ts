import { type DefineCommand, examples } from '../define-command.ts';
import { capWarnings, requireWithinCaps } from '../estimate/cap.ts';
import { estimateLine } from '../estimate/estimate-lines.ts';
import { estimateProject } from '../estimate/estimate-project.ts';
import { type LoadedProject, loadProject } from '../project/load-project.ts';
import { printNotes, printWarnings } from '../project/print-warnings.ts';
import { projectInput, trainFlags } from '../project/project-flags.ts';
import { resolveModels } from '../project/resolve-models.ts';
import { wireRun } from '../project/wire-run.ts';
import { loadRun } from '../runs/load-run.ts';
import { trainRun } from '../runs/train-run.ts';
import { setOption } from '../skillopt-config/set-option.ts';
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
    .option('--config <path>', 'project file (default: skillopt.config.yaml, .json or .mjs in this folder)')
    .option('--fresh', 'start anew; the run that is there is moved aside, its paid replies are used again')
    .option('--ignore-estimate', 'start even when a limit is below the least that the run can need')
    .option('--quiet', 'no progress, only warnings and the result')
    .option('--json', 'one JSON object on stdout');
  for (const option of [setOption(), ...trainFlags()]) command.addOption(option);
  command.addHelpText('after', EXAMPLES).action((flags: Flags) => train(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt train', 'train, or go on where the run stopped'],
  ['skillopt train --max-cost-usd 5 --max-calls 2000', 'limits that hold; the run goes on with more'],
  ['skillopt train --fresh --seed 7', 'a new run with another seed'],
  ['skillopt train --target openai:MODEL', 'another model than the file names'],
  ['skillopt train --config searchqa.yaml', 'a config of SkillOpt, as it is'],
  ['skillopt train --json > summary.json', 'for machines; progress stays on stderr'],
]);

async function train(flags: Flags, terminal: Terminal): Promise<void> {
  const { io } = terminal;
  const loaded = await loadProject({
    flags: projectInput(flags),
    config: flags.config,
    overrides: flags.set,
    cwd: io.cwd(),
  });
  if (!flags.quiet) printNotes(loaded, terminal);
  printWarnings(loaded, terminal);
  const wiring = await wireRun(loaded);
  const models = await resolveModels(loaded, io);
  const { fresh: isFresh = false, quiet: isQuiet = false, ignoreEstimate = false } = flags;
  const isNew = isFresh || (await isMissing(wiring.path));
  if (isNew) await announceCost(loaded, { isQuiet, ignoreEstimate }, terminal);
  const { env, config, path, initialSkill, promptOverrides } = wiring;
  const skill = initialSkill === undefined ? {} : { initialSkill };
  await trainRun({ path, isFresh, isQuiet, trainer: { config, env, ...models, promptOverrides, ...skill } }, terminal);
}

type Announcement = { readonly isQuiet: boolean; readonly ignoreEstimate: boolean };

/** What a new run will ask for, before it asks for anything. */
async function announceCost(loaded: LoadedProject, { isQuiet, ignoreEstimate }: Announcement, terminal: Terminal) {
  const costs = await estimateProject(loaded);
  if (!ignoreEstimate) requireWithinCaps(costs, loaded.project);
  if (!isQuiet) terminal.say(estimateLine(costs));
  const { yellow } = terminal.errorColors;
  for (const warning of capWarnings(costs, loaded.project)) terminal.say(`${yellow('warning:')} ${warning}`);
}

/** A run that is there and cannot be read is not new; training says what is wrong with it. */
const isMissing = (path: string) =>
  loadRun(path).then(
    ({ state }) => state.config === undefined,
    () => false,
  );
