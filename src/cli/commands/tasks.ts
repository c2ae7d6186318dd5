import { jsonOption, positiveNumber, readCount, readPasses } from '../flags/flags.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { CheckFlags } from '../tasks/check.ts';
import type { DraftFlags } from '../tasks/draft.ts';
import type { ReviewFlags } from '../tasks/review.ts';

/** Each part loads what it needs when it is called. */
export const define: DefineCommand = (command, terminal) => {
  const part = (name: string, what: string) =>
    command
      .command(name)
      .description(what)
      .allowExcessArguments(false)
      .option('--config <path>', 'project file (default: the one in this folder, if there is one)')
      .addOption(jsonOption());
  const draft = part('draft', 'a model drafts tasks from a skill, its references and examples')
    .option('--skill <path>', 'folder with a SKILL.md, or a document (default: the skill of the project)')
    .option('--n <number>', 'how many tasks the file should have', readCount, 40)
    .option('--out <file>', 'JSONL file to write, or to add to (default: the tasks of the project, or tasks.jsonl)')
    .option('--model <model>', 'model that drafts, such as openai:MODEL (default: the optimizer of the project)')
    .option('--max-calls <number>', 'maximum number of model calls', readCount)
    .option('--max-cost-usd <number>', 'maximum cost in dollars; the price of the model must be known', positiveNumber)
    .option('--quiet', 'no progress')
    .option('--yes', 'do not ask before the calls')
    .action(async (flags: DraftFlags) => (await import('../tasks/draft.ts')).draft(flags, terminal));
  const review = part('review [file]', 'go through drafted tasks: keep, drop, edit')
    .option('--keep-all', 'keep all of them, as somebody who has read the file')
    .action(async (file: string | undefined, flags: ReviewFlags) =>
      (await import('../tasks/review.ts')).review(file, flags, terminal),
    );
  const check = part('check [file]', 'too few, repeated, contradictory, leaking, unbalanced: what is wrong with tasks')
    .option('--measure', 'ask the target too: too easy, too hard, too noisy')
    .option('--passes <number>', 'how often --measure attempts each task', readPasses, 2)
    .option('--fix', 'write the tasks without repeated and contradictory ones to --out')
    .option('--out <file>', 'JSONL file for --fix; one that is not there yet')
    .option('--quiet', 'no progress')
    .action(async (file: string | undefined, flags: CheckFlags) =>
      (await import('../tasks/check.ts')).check(file, flags, terminal),
    );
  for (const each of [command, draft, review, check]) each.addHelpText('after', EXAMPLES);
};

const EXAMPLES = examples([
  ['skillopt tasks draft --skill skills/pdf', '40 tasks into tasks.jsonl'],
  ['skillopt tasks draft --n 80 --max-cost-usd 2', 'more of them, within a limit'],
  ['skillopt tasks review', 'keep, drop or edit what was drafted'],
  ['skillopt tasks check', 'what is wrong with the tasks; exit code 1 when training makes no sense'],
  ['skillopt tasks check --fix --out clean.jsonl', 'the same tasks, each once'],
]);
