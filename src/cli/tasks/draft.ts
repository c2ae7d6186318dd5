import { type DraftedTasks, type OpenDraft, openDraft } from '../../app/index.ts';
import { costWords } from '../../core/run/index.ts';
import { count, dollars, oneLine, plural, shellWord } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import { nextLines, wrap } from '../../report/index.ts';
import { shownPath } from '../../stores/index.ts';
import { interruptible } from '../errors.ts';
import { projectOf, tasksPath } from '../flags/project-flags.ts';
import { confirm } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';

export type DraftFlags = {
  readonly config?: string;
  readonly skill?: string;
  readonly n: number;
  readonly out?: string;
  readonly model?: string;
  readonly maxCalls?: number;
  readonly maxCostUsd?: number;
  readonly quiet?: boolean;
  readonly yes?: boolean;
};

export async function draft(flags: DraftFlags, terminal: Terminal): Promise<void> {
  const { io } = terminal;
  const { config, model, n, maxCalls, maxCostUsd } = flags;
  const cwd = io.cwd();
  const limits = { maxCalls, maxCostUsd };
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
  terminal.answer(answer, draftLines(answer, work.failure === undefined, terminal));
  if (work.failure !== undefined) throw work.failure;
}

/** What it will ask for is said before it asks; a person at a terminal may say no. */
async function isAgreed(
  { yes, quiet }: DraftFlags,
  drafting: OpenDraft,
  shown: string,
  terminal: Terminal,
): Promise<boolean> {
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
    ...(isShort ? ['The same command drafts more.'] : []),
    `${plural(calls, 'call')}, ${answer.costWords}`,
    ...(isDone ? ['', ...nextLines(whatNext(answer, canAsk), terminal)] : []), // the error says what to do
  ];
}

function whatNext({ isProject, file }: DraftAnswer, canAsk: boolean): (readonly [string, string])[] {
  const review = [
    `npx skillopt tasks review${isProject ? '' : ` ${shellWord(file)}`}`,
    'keep, drop or edit them',
  ] as const;
  const train = isProject
    ? (['npx skillopt train', 'trains on them'] as const)
    : (['npx skillopt init', 'makes a project of them'] as const);
  return canAsk ? [review, train] : [train, review];
}
