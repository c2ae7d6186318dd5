import { type DefineCommand, examples } from '../define-command.ts';
import { type HarvestFlags, showHarvest } from '../sleep/harvest.ts';
import { addSleepFlags, type SleepFlags } from '../sleep/open-sleep.ts';
import { showOverview } from '../sleep/overview.ts';
import { type PlanFlags, showPlan } from '../sleep/plan.ts';
import { readPage } from '../sleep/plan-lines.ts';
import { type PurgeFlags, purgeKept } from '../sleep/purge.ts';

export const define: DefineCommand = (command, terminal) => {
  const shorter = (flags: string) => flags.replace(/^(--[\w-]+), --[\w-]+/, '$1'); // A long name is for files.
  command.configureHelp({ ...command.configureHelp(), optionTerm: ({ flags }) => shorter(flags) });
  addSleepFlags(command).action((flags: SleepFlags) => showOverview(flags, terminal));
  const part = (name: string, what: string) => command.command(name).description(what);

  addSleepFlags(part('harvest', 'the tasks in your sessions, as a table or as a file to review'), ['optimizer'])
    .option('--output <file>', 'write the tasks there, to review by hand')
    .option('--with-model', 'let the optimizer find them; else rules do, and no model is asked')
    .option('--consent <provider...>', 'agree that texts of sessions are sent there; a terminal asks once')
    .action((_, own) => showHarvest(own.optsWithGlobals() as HarvestFlags, terminal));

  addSleepFlags(part('run', 'a night: what it would cost, and what it would send'), ['target', 'optimizer', 'judge'])
    .option('--plan', 'say what it would cost, and send nothing')
    .option('--page <number>', 'a page of the texts that it may send, or all', readPage)
    .option('--drop <id...>', 'never learn from this session or task')
    .action((_, own) => showPlan(own.optsWithGlobals() as PlanFlags, terminal));

  part('purge', 'delete what is kept of your sessions')
    .argument('[what]', 'all, archive, index, consent or nights', 'all')
    .option('--project <path>', 'only of this folder and below')
    .option('--json', 'one JSON object on stdout')
    .action((what: string, _, own) => purgeKept(what, own.optsWithGlobals() as PurgeFlags, terminal));
  command.addHelpText('after', EXAMPLES);
};

const EXAMPLES = examples([
  ['skillopt sleep', 'what is here to learn from'],
  ['skillopt sleep harvest', 'the tasks of this folder'],
  ['skillopt sleep harvest --output tasks.json', 'the same, as a file to review'],
  ['skillopt sleep run --plan', 'what a night would cost'],
  ['skillopt sleep run --plan --page all', 'every text that it may send'],
  ['skillopt sleep purge', 'delete what is kept'],
]);
