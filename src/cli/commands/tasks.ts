import {
  checkTaskFile,
  type DraftedTasks,
  measureTasks,
  type OpenDraft,
  openDraft,
  writeWithoutRepeated,
} from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { costWords } from '../../core/run/index.ts';
import { count, defined, dollars, oneLine, plural, shellWord } from '../../core/text/index.ts';
import { type LoadedProject, resolvePath } from '../../project/index.ts';
import { nameSome, nextLines, wrap } from '../../report/index.ts';
import { shownPath } from '../../stores/index.ts';
import type { Finding, LoadedCheck } from '../../tasks/index.ts';
import { Answered, exitCodeOf, interruptible, keyMask, printError } from '../errors.ts';
import { jsonOption, positiveNumber, readCount, readPasses } from '../flags/flags.ts';
import { projectOf, tasksPath } from '../flags/project-flags.ts';
import { withDoing, withProgress } from '../progress/progress.ts';
import { type DefineCommand, examples, type OptionalFlags } from '../run-command.ts';
import { type ReviewFlags, reviewTasks } from '../tasks/review.ts';
import { confirm } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';

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
    .option('--max-total-tokens <number>', 'maximum number of tokens, in and out', readCount)
    .option('--max-cost-usd <number>', 'maximum cost in dollars; the price of the model must be known', positiveNumber)
    .option('--max-minutes <number>', 'stop after this many minutes', positiveNumber)
    .option('--quiet', 'no progress')
    .option('--yes', 'do not ask before the calls')
    .action((flags: DraftFlags) => draftTasks(flags, terminal));
  const review = part('review [file]', 'go through drafted tasks: keep, drop, edit')
    .option('--keep-all', 'keep all of them, as somebody who has read the file')
    .action((file: string | undefined, flags: ReviewFlags) => reviewTasks(file, flags, terminal));
  const check = part('check [file]', 'too few, repeated, contradictory, leaking, unbalanced: what is wrong with tasks')
    .option('--measure', 'ask the target too: too easy, too hard, too noisy')
    .option('--passes <number>', 'how often --measure attempts each task', readPasses, 2)
    .option('--fix', 'write the tasks without repeated and contradictory ones to --out')
    .option('--out <file>', 'JSONL file for --fix; one that is not there yet')
    .option('--quiet', 'no progress')
    .action((file: string | undefined, flags: CheckFlags) => checkTasks(file, flags, terminal));
  for (const each of [command, draft, review, check]) each.addHelpText('after', EXAMPLES);
};

const EXAMPLES = examples([
  ['skillopt tasks draft --skill skills/pdf', '40 tasks into tasks.jsonl'],
  ['skillopt tasks draft --n 80 --max-cost-usd 2', 'more of them, within a limit'],
  ['skillopt tasks review', 'keep, drop or edit what was drafted'],
  ['skillopt tasks check', 'what is wrong with the tasks; exit code 1 when training makes no sense'],
  ['skillopt tasks check --fix --out clean.jsonl', 'the same tasks, each once'],
]);

type CheckFlags = OptionalFlags<'config' | 'out', 'measure' | 'fix' | 'quiet'> & { readonly passes: number };

/** Says what is wrong with tasks. Asks nobody, unless they are to be measured. */
async function checkTasks(file: string | undefined, flags: CheckFlags, terminal: Terminal): Promise<void> {
  const cwd = terminal.io.cwd();
  const loaded = await projectOf({ config: flags.config }, terminal);
  const path = tasksPath(file, loaded, terminal);
  const { read, findings: found } = await withDoing(terminal, flags.quiet, (onDoing) =>
    checkTaskFile(path, loaded, onDoing),
  );
  const measured = flags.measure ? await measure(file === undefined ? loaded : undefined, flags, terminal) : [];
  const findings = [...found, ...measured];
  const fixed = flags.fix ? await fix(read, path, flags, cwd) : undefined;
  const isSenseless = findings.some(isBad);
  const shown = shownPath(path, cwd);
  const counts = { tasks: read.tasks.length, ...defined({ groups: read.groups }) };
  const answer = { file: shown, ...counts, isOk: !isSenseless, findings, ...(fixed ? { fixed } : {}) };
  const end = fixed ? [`${plural(fixed.tasks, 'task')} written to ${fixed.file}, ${fixed.removed} left out`] : [];
  terminal.answer(answer, [...findingLines(shown, counts, findings, terminal), ...end]);
  if (isSenseless) throw new Answered(1);
}

async function measure(loaded: LoadedProject | undefined, { passes, quiet }: CheckFlags, terminal: Terminal) {
  if (loaded === undefined) {
    const hint = 'Run it in the folder of a project, without a file: it measures the tasks that the project names.';
    throw new SkillError('USAGE', '--measure asks the target of a project about its own tasks', { hint });
  }
  return withProgress(terminal, { loaded, quiet }, (watching) => measureTasks(loaded, passes, watching));
}

async function fix(read: LoadedCheck, path: string, { out }: CheckFlags, cwd: string) {
  const hint = 'Name a new one: --fix --out clean.jsonl';
  if (out === undefined) throw new SkillError('USAGE', '--fix needs a file to write to', { hint });
  const target = resolvePath(cwd, out);
  return { file: shownPath(target, cwd), ...(await writeWithoutRepeated(read, path, target)) };
}

const MOST_NAMED = 5;

const isBad = ({ level }: Finding) => level === 'senseless' || level === 'untrue';

type Counts = { readonly tasks: number; readonly groups?: number };

function findingLines(
  shown: string,
  counts: Counts,
  findings: readonly Finding[],
  { colors, width, called }: Terminal,
) {
  const paint = { untrue: colors.red, senseless: colors.red, warning: colors.yellow, note: colors.dim };
  const lines = findings.flatMap(({ level, code, what, tasks, todo }) => {
    return [
      ...wrap(`${paint[level](code)}  ${what}`, width, '  '),
      ...(tasks.length === 0 ? [] : wrap(`  ${nameSome(tasks.map(oneLine), MOST_NAMED)}`, width, '    ')),
      ...wrap(`  → ${called(todo)}`, width, '    '),
    ];
  });
  const senseless = findings.filter(isBad).length;
  const good = findings.length === 0 ? 'nothing is wrong with them' : 'fit to train on';
  const verdict = senseless > 0 ? 'training on them makes no sense yet' : good;
  const { tasks, groups } = counts;
  const found = `${plural(tasks, 'task')}${groups === undefined ? '' : ` in ${plural(groups, 'group')}`}`;
  return [...lines, ...(lines.length > 0 ? [''] : []), `${found} in ${shown}: ${verdict}`];
}

type DraftFlags = { readonly n: number } & OptionalFlags<
  'config' | 'skill' | 'out' | 'model',
  'quiet' | 'yes',
  'maxCalls' | 'maxTotalTokens' | 'maxCostUsd' | 'maxMinutes'
>;

async function draftTasks(flags: DraftFlags, terminal: Terminal): Promise<void> {
  const { io } = terminal;
  const { config, model, n, maxCalls, maxTotalTokens, maxCostUsd, maxMinutes } = flags;
  const cwd = io.cwd();
  const limits = { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes };
  const loaded = await projectOf({ config, ...limits }, terminal);
  const out = tasksPath(flags.out, loaded, terminal);
  const shown = shownPath(out, cwd);
  const skill = flags.skill === undefined ? undefined : resolvePath(cwd, flags.skill);
  const caller = { env: io.env, notices: terminal };
  const drafting = await openDraft({ loaded, out, shown, count: n, skill, model, limits, cwd, caller });
  if (drafting.missing > 0 && !(await isAgreed(flags, drafting, shown, terminal))) return;
  const observers = [{ onWarning: terminal.warn }];
  const onProgress = progressSayer(flags.quiet ? () => {} : terminal.say);
  const work = await interruptible({ io, onStop: terminal.say }, (signal) =>
    drafting.draft({ signal, observers, onProgress }),
  );
  const answer = answerOf(work, { shown, n, isProject: loaded !== undefined });
  const lines = draftLines(answer, work.failure === undefined, terminal);
  if (work.failure === undefined) return terminal.answer(answer, lines);
  if (!terminal.isJson) terminal.answer(answer, lines);
  printError(work.failure, terminal, { done: answer, mask: await keyMask() });
  throw new Answered(exitCodeOf(work.failure));
}

/** What it will ask for is said before it asks; a person at a terminal may say no. */
async function isAgreed({ yes, quiet }: DraftFlags, drafting: OpenDraft, shown: string, terminal: Terminal) {
  const { likely, mostCalls, usd } = await drafting.estimate();
  const price = usd === undefined ? 'of a model whose price is not known' : `about $${dollars(usd)}`;
  const calls = `about ${count(likely.calls)} calls (at most ${count(mostCalls)})`;
  const tokens = `${count(likely.input + likely.output)} tokens`;
  const tasks = plural(drafting.missing, 'task');
  const cost = `${tasks} for ${shown} by ${oneLine(drafting.model)}: ${calls}, ${tokens}, ${price}.`;
  if (terminal.canAsk && !yes) return confirm(`${cost} Draft them now?`);
  if (!quiet) terminal.say(cost);
  return true;
}

/** A line whenever something else is done, or more is kept. */
function progressSayer(say: (line: string) => void) {
  let last = '';
  return ({ doing, kept, wanted }: { doing: string; kept: number; wanted: number }) => {
    const line = doing === 'reading the skill' ? doing : `${doing}: ${kept} of ${wanted} kept`;
    if (line !== last) say(line);
    last = line;
  };
}

type DraftAnswer = ReturnType<typeof answerOf>;
type DraftRequest = { readonly shown: string; readonly n: number; readonly isProject: boolean };

function answerOf({ kept, rows, result, cost }: DraftedTasks, { shown, n, isProject }: DraftRequest) {
  const types = rows.map(({ taskType }) => (typeof taskType === 'string' ? taskType : ''));
  const kinds: Record<string, number> = {};
  for (const type of types) kinds[type] = (kinds[type] ?? 0) + 1;
  const dropped = { repeated: 0, contradicted: 0, doubtful: 0, 'not usable': 0 };
  for (const { why } of result?.dropped ?? []) dropped[why] += 1;
  const doubtful = kept.filter((row) => row.doubtful).length;
  const { calls, tokens, costUsd, isPriced } = cost;
  return {
    ...{ file: shown, drafted: kept.length, tasks: rows.length, wanted: n, kinds, dropped, doubtful, calls, tokens },
    ...{ costUsd: isPriced ? costUsd : null, costWords: costWords(cost), isProject },
  };
}

const WORDS = {
  repeated: 'repeated',
  contradicted: 'contradicted by independent solutions',
  doubtful: 'not confirmed by them',
  'not usable': 'not usable',
} as const;

const MORE = 'The same command drafts more.';
const NO_MORE =
  'No draft of this command was good enough, and more commands would hardly find one: train on these, give the skill more to ask about, or name another --model.';

function draftLines(answer: DraftAnswer, isDone: boolean, terminal: Terminal): string[] {
  const { colors, width, canAsk } = terminal;
  const { file, drafted, tasks, wanted, kinds, dropped, doubtful, calls } = answer;
  const spread = Object.entries(kinds).map(([kind, count]) => `${oneLine(kind) || 'no kind'} ${count}`);
  const why = Object.entries(dropped).flatMap(([reason, count]) =>
    count > 0 ? [`${count} ${WORDS[reason as keyof typeof WORDS]}`] : [],
  );
  const isShort = tasks < wanted;
  return [
    `${colors.bold(isShort ? `${tasks} of ${plural(wanted, 'task')}` : plural(tasks, 'task'))} in ${file}, ${drafted} drafted now, reviewed by nobody`,
    ...(spread.length > 0 ? wrap(`spread: ${spread.join(', ')}`, width, '  ') : []),
    ...(why.length > 0 ? wrap(`dropped: ${why.join(', ')}`, width, '  ') : []),
    ...(doubtful > 0
      ? wrap(`${plural(doubtful, 'task')} kept with a doubtful reference: look at those first`, width, '  ')
      : []),
    ...(isShort ? wrap(drafted > 0 || !isDone ? MORE : NO_MORE, width, '') : []),
    `${plural(calls, 'call')}, ${answer.costWords}`,
    ...(isDone ? ['', ...nextLines(whatNext(answer, canAsk), terminal)] : []), // the error says what to do
  ];
}

function whatNext({ isProject, file }: DraftAnswer, canAsk: boolean): (readonly [string, string])[] {
  const named = isProject ? '' : ` ${shellWord(file)}`;
  const review = [`npx skillopt tasks review${named}`, 'keep, drop or edit them'] as const;
  const [command, what] = isProject ? ['train', 'trains on them'] : ['init', 'makes a project of them'];
  const train = [`npx skillopt ${command}`, what!] as const;
  return canAsk ? [review, train] : [train, review];
}
