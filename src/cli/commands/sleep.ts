import { type Command, InvalidArgumentError, Option } from 'commander';
import { SkillError } from '../../core/contracts/index.ts';
import { suggestion } from '../../core/text/index.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import type { HarvestFlags } from '../sleep/harvest.ts';
import type { PageNumber } from '../sleep/plan.ts';
import type { ProposalFlags } from '../sleep/proposals.ts';
import type { PurgeFlags } from '../sleep/purge.ts';
import type { ReviewFlags } from '../sleep/review.ts';
import type { RunFlags } from '../sleep/run.ts';
import type { ScheduleFlags, UnscheduleFlags } from '../sleep/schedule.ts';
import { addSleepFlags, type SleepFlags } from '../sleep/sleep-flags.ts';
import type { StatusFlags } from '../sleep/status.ts';

const SCHEDULE_KINDS = ['systemd', 'cron', 'launchd', 'windows'];

/** Each part loads what it needs when it is called: a status in a shell prompt has no time for models. */
export const define: DefineCommand = (command, terminal) => {
  const shorter = (flags: string) => flags.replace(/^(--[\w-]+), --[\w-]+/, '$1'); // A long name is for files.
  command.configureHelp({ ...command.configureHelp(), optionTerm: ({ flags }) => shorter(flags) });
  addSleepFlags(command)
    .allowExcessArguments(true) // They are commands that do not exist, which is said in other words.
    .action(async (flags: SleepFlags) => {
      if (command.args.length > 0) throw unknownPart(command);
      return (await import('../sleep/overview.ts')).showOverview(flags, terminal);
    });
  const part = (name: string, what: string) => command.command(name).description(what).allowExcessArguments(false);
  const partOfProject = (name: string, what: string) =>
    part(name, what)
      .option('--project <path>', 'the project whose nights are meant (default: where you are)')
      .option('--json', 'one JSON object on stdout');

  addSleepFlags(part('harvest', 'the tasks in your sessions, as a table or as a file to review'), ['optimizer'])
    .option('--output <file>', 'write the tasks there, to review by hand; - is stdout')
    .option('--force', 'overwrite a file that is reviewed, or not of tasks')
    .option('--with-model', 'let the optimizer find them; else rules do, and no model is asked')
    .option('--consent <provider...>', 'agree that texts of sessions are sent there; a terminal asks once')
    .action(async (_, own) =>
      (await import('../sleep/harvest.ts')).showHarvest(own.optsWithGlobals() as HarvestFlags, terminal),
    );

  const limited = (name: string, what: string) =>
    addSleepFlags(part(name, what), ['target', 'optimizer', 'judge'])
      .option('--consent <provider...>', 'agree that texts of sessions are sent there; a terminal asks once')
      .option('--max-minutes <number>', 'stop after so long; the same command resumes', readAmount)
      .option('--max-calls <number>', 'most calls of models', readAmount)
      .option('--max-cost-usd <number>', 'most dollars; every model needs a known price', readAmount)
      .addOption(
        new Option('--skill <name>', 'improve this existing skill: its name, folder or SKILL.md').conflicts(
          'targetSkillPath',
        ),
      );
  const night = (name: string, what: string) =>
    limited(name, what)
      .option('--tasks <file>', 'reviewed tasks instead of those in your sessions')
      .option('--quiet', 'no progress');

  night('dry-run', 'a night of which nothing is kept').action(async (_, own) =>
    (await import('../sleep/run.ts')).showNight(own.optsWithGlobals() as RunFlags, terminal, true),
  );

  night('run', 'a night: learn from your sessions, and stage what is proven better')
    .option('--plan', 'say what it would cost, and send nothing')
    .option('--page <number>', 'a page of the texts that it may send, or all', readPage)
    .option('--drop <id...>', 'never learn from this session or task')
    .addOption(new Option('--if-due <time>', 'only when it came round since the last job').hideHelp())
    .addOption(new Option('--check', 'look at what a nightly job needs').hideHelp())
    .action(async ({ check }, own) => {
      const flags = own.optsWithGlobals() as RunFlags;
      const { showNight, showNightChecks } = await import('../sleep/run.ts');
      return check ? showNightChecks(flags, terminal) : showNight(flags, terminal);
    });

  addSleepFlags(part('review', 'go through a proposal edit by edit; what you keep is measured again'), [
    'target',
    'judge',
  ])
    .option('--skill <name...>', 'what is proposed for these skills')
    .option('--memory', 'what is proposed for the memory file')
    .option('--night <number>', 'what this night proposed', readNight)
    .option('--drop-change <number...>', 'drop these changes without asking', readNumbers)
    .option('--consent <provider...>', 'agree that texts of sessions are sent there; a terminal asks once')
    .option('--max-calls <number>', 'most calls of models', readAmount)
    .option('--yes', 'measure without asking')
    .option('--quiet', 'no progress')
    .action(async (_, own) =>
      (await import('../sleep/review.ts')).reviewProposal(own.optsWithGlobals() as ReviewFlags, terminal),
    );

  partOfProject('status', 'what waits for you, in a moment')
    .option('--short', 'one line for a shell prompt; nothing when nothing waits')
    .action(async (_, own) =>
      (await import('../sleep/status.ts')).showStatus(own.optsWithGlobals() as StatusFlags, terminal),
    );

  partOfProject('adopt', 'put what a night proposed into the live document')
    .addOption(new Option('--skill <name...>', 'what is proposed for these skills').conflicts('allSkills'))
    .option('--all-skills', 'what is proposed for skills, all or nothing')
    .option('--memory', 'what is proposed for the memory file')
    .option('--night <number>', 'what this night proposed', readNight)
    .action(async (_, own) =>
      (await import('../sleep/adopt.ts')).adoptChosen(own.optsWithGlobals() as ProposalFlags, terminal),
    );

  partOfProject('rollback', 'undo the last adoption, or those of a night')
    .addOption(new Option('--skill <name...>', 'what was adopted for these skills').conflicts('allSkills'))
    .option('--all-skills', 'what was adopted for skills')
    .option('--memory', 'what was adopted for the memory file')
    .option('--night <number>', 'what this night proposed', readNight)
    .action(async (_, own) =>
      (await import('../sleep/adopt.ts')).rollBackChosen(own.optsWithGlobals() as ProposalFlags, terminal),
    );

  limited('schedule', 'have a night run every night: a systemd timer, cron, launchd or the Task Scheduler')
    .option('--at <time>', 'when, on the clock of this machine (default: 03:17)')
    .addOption(new Option('--with <kind>', 'how (default: what works here)').choices(SCHEDULE_KINDS))
    .option('--print', 'show what would be installed, and install nothing')
    .option('--force', 'install it though something would be missing at night')
    .action(async (_, own) =>
      (await import('../sleep/schedule.ts')).schedule(own.optsWithGlobals() as ScheduleFlags, terminal),
    );

  partOfProject('unschedule', 'take the nightly job away')
    .option('--all', 'those of every project')
    .action(async (_, own) =>
      (await import('../sleep/schedule.ts')).unschedule(own.optsWithGlobals() as UnscheduleFlags, terminal),
    );

  part('purge', 'delete what is kept of your sessions')
    .argument('[what]', 'all, archive, index, consent or nights', 'all')
    .option('--project <path>', 'only of this folder and below')
    .option('--yes', 'also what a person may miss, without asking')
    .option('--json', 'one JSON object on stdout')
    .action(async (what: string, _, own) =>
      (await import('../sleep/purge.ts')).purgeKept(what, own.optsWithGlobals() as PurgeFlags, terminal),
    );
  command.addHelpText('after', EXAMPLES);
};

function unknownPart({ args: [typed = ''], commands }: Command): SkillError {
  const names = commands.map((one) => one.name());
  const hint = `There are ${names.join(', ')}.`;
  return new SkillError('USAGE', `sleep has no command ${JSON.stringify(typed)}${suggestion(typed, names)}`, { hint });
}

function readNumbers(text: string, before: readonly number[] = []): readonly number[] {
  if (/^[1-9]\d{0,5}$/.test(text)) return [...before, Number(text)];
  throw new InvalidArgumentError('Expected the number of a change.');
}

function readAmount(text: string): number {
  const amount = Number(text);
  if (text.trim() !== '' && amount > 0 && Number.isFinite(amount)) return amount;
  throw new InvalidArgumentError('Expected a number above 0.');
}

function readPage(text: string): PageNumber {
  if (text === 'all') return text;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected the number of a page, or all.');
}

function readNight(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected the number of a night.');
}

const EXAMPLES = examples([
  ['skillopt sleep', 'what is here to learn from'],
  ['skillopt sleep harvest', 'the tasks of this folder'],
  ['skillopt sleep harvest --output tasks.json', 'the same, as a file to review'],
  ['skillopt sleep run --plan', 'what a night would cost'],
  ['skillopt sleep run --plan --page all', 'every text that it may send'],
  ['skillopt sleep adopt', 'take what a night proposed'],
  ['skillopt sleep rollback', 'undo that'],
  ['skillopt sleep schedule --max-minutes 30', 'a night every night'],
  ['skillopt sleep purge', 'delete what is kept'],
]);
