import { type Command, Option } from 'commander';
import { SkillError } from '../../core/contracts/index.ts';
import { suggestion } from '../../core/text/index.ts';
import { jsonOption, positiveNumber, readOrdinal } from '../flags/flags.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { PageNumber } from '../sleep/plan.ts';
import { addSleepFlags, type SleepFlags } from '../sleep/sleep-flags.ts';
import type { Terminal } from '../terminal/terminal.ts';

const SCHEDULE_KINDS = ['systemd', 'cron', 'launchd', 'windows'];
const IMPROVED = 'improve this existing skill: its name, folder or SKILL.md';

/** Each part loads its code when it is called: a status in a shell prompt must be quick. */
export const define: DefineCommand = (command, terminal) => {
  const shorter = (flags: string) => flags.replace(/^(--[\w-]+), --[\w-]+/, '$1'); // the long name is for files
  command.configureHelp({ ...command.configureHelp(), optionTerm: ({ flags }) => shorter(flags) });
  addSleepFlags(command)
    .allowExcessArguments(true) // unknownPart reports them
    .action(async (flags: SleepFlags) => {
      if (command.args.length > 0) throw unknownPart(command);
      return (await import('../sleep/overview.ts')).showOverview(flags, terminal);
    });
  const parts = partsOf(command, terminal);
  addHarvest(parts);
  addNights(parts);
  addReview(parts);
  addProposals(parts);
  addSchedule(parts);
  addPurge(parts, terminal);
  command.addHelpText('after', EXAMPLES);
};

type Parts = ReturnType<typeof partsOf>;
type Act = (flags: never, terminal: Terminal) => Promise<void>;

function partsOf(command: Command, terminal: Terminal) {
  const part = (name: string, what: string) => command.command(name).description(what).allowExcessArguments(false);
  const withConsent = (one: Command) =>
    one.option('--consent <provider...>', 'agree to send session texts to this provider; a terminal asks once');
  return {
    part,
    withConsent,
    ofProject: (name: string, what: string) =>
      part(name, what).option('--project <path>', 'the project (default: the current folder)').addOption(jsonOption()),
    limited: (name: string, what: string) =>
      withConsent(addSleepFlags(part(name, what), ['target', 'optimizer', 'judge']))
        .option('--max-minutes <number>', 'stop after this many minutes; the same command resumes', positiveNumber)
        .option('--max-calls <number>', 'maximum number of model calls', positiveNumber)
        .option('--max-cost-usd <number>', 'maximum cost in dollars; every model needs a known price', positiveNumber)
        .addOption(new Option('--skill <name>', IMPROVED).conflicts('targetSkillPath')),
    /** Calls what `load` finds with all flags, also those of the command above. */
    calling: (load: () => Promise<Act>) => async (_: unknown, own: Command) =>
      (await load())(own.optsWithGlobals() as never, terminal),
  };
}

function addHarvest({ part, withConsent, calling }: Parts): void {
  const harvest = part('harvest', 'the tasks in your sessions, as a table or as a file to review');
  addSleepFlags(harvest, ['optimizer'])
    .option('--output <file>', 'write the tasks there, to review by hand; - is stdout')
    .option('--force', 'overwrite a reviewed file, or one that holds no tasks')
    .option('--with-model', 'let the optimizer find them; otherwise rules do, and no model is asked');
  withConsent(harvest).action(calling(async () => (await import('../sleep/harvest.ts')).showHarvest));
}

function addNights({ limited, calling }: Parts): void {
  const night = (name: string, what: string) =>
    limited(name, what)
      .option('--tasks <file>', 'reviewed tasks instead of those in your sessions')
      .option('--quiet', 'no progress')
      .addOption(new Option('--queue <url>').hideHelp().argParser(refuseQueue));
  night('dry-run', 'run a night and keep nothing of it').action(
    calling(async () => (await import('../sleep/run.ts')).showDryRun),
  );
  night('run', 'a night: learn from your sessions, and stage what is proven better')
    .option('--plan', 'show what it would cost, and send nothing')
    .option('--page <number>', 'show one page of the texts that it may send, or all', readPage)
    .option('--drop <id...>', 'never learn from this session or task')
    .addOption(new Option('--if-due <time>', 'only if this time has passed since the last job').hideHelp())
    .addOption(new Option('--job <folder>', 'the folder of a night in the background').hideHelp())
    .addOption(new Option('--check', 'check what a nightly job needs').hideHelp())
    .action(calling(async () => (await import('../sleep/run.ts')).showNight));
}

function refuseQueue(): never {
  throw new SkillError(
    'USAGE',
    'a night takes no --queue: its tasks hold texts of your sessions, which stay on this machine',
    {
      hint: 'Leave --queue out. Training, eval and compare take it.',
    },
  );
}

const readNight = readOrdinal('the number of a night');
const readPage = (text: string): PageNumber =>
  text === 'all' ? text : readOrdinal('the number of a page, or all')(text);
const readChanges = (text: string, before: readonly number[] = []) => [
  ...before,
  readOrdinal('the number of a change')(text),
];

function addReview({ part, withConsent, calling }: Parts): void {
  const review = part('review', 'go through a proposal edit by edit; what you keep is measured again');
  addSleepFlags(review, ['target', 'judge'])
    .option('--skill <name...>', 'what is proposed for these skills')
    .option('--memory', 'what is proposed for the memory file')
    .option('--night <number>', 'what this night proposed', readNight)
    .option('--drop-change <number...>', 'drop these changes without asking', readChanges);
  withConsent(review)
    .option('--max-calls <number>', 'maximum number of model calls', positiveNumber)
    .option('--yes', 'measure without asking')
    .option('--quiet', 'no progress')
    .action(calling(async () => (await import('../sleep/review.ts')).reviewProposal));
}

function addProposals({ ofProject, calling }: Parts): void {
  ofProject('status', 'what waits for you, in a moment')
    .option('--short', 'one line for a shell prompt; nothing when nothing waits')
    .action(calling(async () => (await import('../sleep/state.ts')).showStatus));
  const about = (name: string, what: string, done: string, allOrNothing = '') =>
    ofProject(name, what)
      .addOption(new Option('--skill <name...>', `what ${done} for these skills`).conflicts('allSkills'))
      .option('--all-skills', `what ${done} for skills${allOrNothing}`)
      .option('--memory', `what ${done} for the memory file`)
      .option('--night <number>', 'what this night proposed', readNight);
  about('adopt', 'put what a night proposed into the live document', 'is proposed', ', all or nothing')
    .option('--marked', 'also with lines that are marked: you have seen them')
    .option('--digest <hash...>', 'only if the proposal still has this digest, which status --json shows')
    .action(calling(async () => (await import('../sleep/state.ts')).adoptChosen));
  about('rollback', 'undo the last adoption, or those of a night', 'was adopted').action(
    calling(async () => (await import('../sleep/state.ts')).rollBackChosen),
  );
}

function addSchedule({ limited, ofProject, calling }: Parts): void {
  limited('schedule', 'run a night every night: with a systemd timer, cron, launchd or the Task Scheduler')
    .option('--at <time>', 'when, on the clock of this machine (default: 03:17)')
    .addOption(new Option('--with <kind>', 'how (default: what works here)').choices(SCHEDULE_KINDS))
    .option('--print', 'show what would be installed, and install nothing')
    .option('--force', 'install it even if something would be missing at night')
    .action(calling(async () => (await import('../sleep/run.ts')).schedule));
  ofProject('unschedule', 'remove the nightly job')
    .option('--all', 'the jobs of every project')
    .action(calling(async () => (await import('../sleep/run.ts')).unschedule));
}

function addPurge({ part }: Parts, terminal: Terminal): void {
  part('purge', 'delete what is kept of your sessions')
    .argument('[what]', 'all, archive, index, consent or nights', 'all')
    .option('--project <path>', 'only for this folder and below')
    .option('--yes', 'delete everything without asking')
    .addOption(jsonOption())
    .action(async (what: string, _, own: Command) =>
      (await import('../sleep/state.ts')).purgeKept(what, own.optsWithGlobals(), terminal),
    );
}

function unknownPart({ args: [typed = ''], commands }: Command): SkillError {
  const names = commands.map((one) => one.name());
  const hint = `There are ${names.join(', ')}.`;
  return new SkillError('USAGE', `sleep has no command ${JSON.stringify(typed)}${suggestion(typed, names)}`, { hint });
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
