import type { ChatMessage, ChatReply, RolloutContext, RolloutOutput } from '../../core/contracts/index.ts';
import { head, plural } from '../../core/text/index.ts';
import { cutNote } from '../../envs/index.ts';
import { ask, conversationOf, firstMessages } from '../ask.ts';
import type { DataFiles } from '../data/data-files.ts';
import { extractCode, type Language } from './code.ts';
import { compareWorkbooks } from './compare-workbooks.ts';
import { isMisnamed } from './find-cases.ts';
import type { SpreadsheetItem, TestCase } from './item.ts';
import { previewWorkbook } from './preview.ts';
import { failureWords, noCodeWords, questionOf, rulesFor } from './prompts.ts';
import type { Rule } from './ranges.ts';
import type { CodeRun, CodeRunner } from './run-code.ts';
import { readWorkbook } from './workbook.ts';

export type AttemptOptions = {
  readonly files: DataFiles;
  readonly runner: CodeRunner;
  readonly language: Language;
  readonly rule: Rule;
  readonly maxTurns: number;
  readonly maxOutputTokens: number;
};

type Context = RolloutContext<SpreadsheetItem>;

/** The target writes code for the first workbook until it runs. Then the code runs on the others, and all results are scored. */
export async function attemptItem(context: Context, options: AttemptOptions): Promise<RolloutOutput> {
  const { item } = context;
  const [first, ...others] = casesOf(item, options.rule);
  if (first === undefined) return { hard: 0, soft: 0, failReason: 'it has no test cases that this rule finds' };
  const written = await writeCode(context, first, options);
  const verdicts = [await scoreRun(written.run, { ...options, item, testCase: first })];
  for (const testCase of others) {
    const run = written.code === '' ? written.run : await runOn(testCase, written.code, { ...options, ...context });
    verdicts.push(await scoreRun(run, { ...options, item, testCase }));
  }
  const wrong = verdicts.filter((verdict) => verdict !== undefined);
  const base = {
    nTurns: written.turns,
    question: item.instruction,
    predictedAnswer: written.code,
    conversation: conversationOf(written.messages),
    ...(item.taskType === undefined ? {} : { taskType: item.taskType }),
  };
  if (wrong.length === 0) return { ...base, hard: 1, soft: 1 };
  const of = verdicts.length === 1 ? '' : `${wrong.length} of ${plural(verdicts.length, 'workbook')}: `;
  const { reason, details } = wrong[0]!;
  return {
    ...base,
    hard: 0,
    soft: 1 - wrong.length / verdicts.length,
    failReason: `${of}${reason}${cutNote(written.reply)}`,
    ...(details === undefined ? {} : { referenceText: details }),
  };
}

/** SkillOpt does not find an answer that has another name than its input. */
export const casesOf = ({ cases }: SpreadsheetItem, rule: Rule): readonly TestCase[] =>
  rule === 'reference' ? cases.filter((one) => !isMisnamed(one)) : cases;

type Written = {
  readonly code: string;
  readonly run: CodeRun;
  readonly turns: number;
  readonly reply: ChatReply;
  readonly messages: readonly ChatMessage[];
};

async function writeCode(context: Context, first: TestCase, options: AttemptOptions): Promise<Written> {
  const { item, skill, target, signal } = context;
  const { language, maxTurns, maxOutputTokens, files } = options;
  const preview = await previewWorkbook(await files.bytes(first.input));
  const rules = rulesFor(language);
  const messages: ChatMessage[] = firstMessages(skill, { rules, question: questionOf(item, preview) });
  for (let turn = 1; ; turn++) {
    const reply = await ask([...messages], { target, signal, maxOutputTokens });
    messages.push({ role: 'assistant', content: reply.text });
    const code = extractCode(reply.text);
    const run = code === '' ? NO_CODE : await runOn(first, code, { ...options, signal });
    if ('output' in run || turn >= maxTurns) return { code, run, turns: turn, reply, messages };
    const words = code === '' ? noCodeWords(language) : failureWords(run.problem, language);
    messages.push({ role: 'user', content: words });
  }
}

const NO_CODE: CodeRun = { problem: 'there is no code in the reply' };

type WhereItRuns = Pick<AttemptOptions, 'files' | 'runner'> & Pick<Context, 'signal'>;

const runOn = async (testCase: TestCase, code: string, { files, runner, signal }: WhereItRuns): Promise<CodeRun> =>
  runner.run(code, { path: await files.pathOf(testCase.input), signal });

type Scored = Pick<AttemptOptions, 'files' | 'rule'> & {
  readonly item: SpreadsheetItem;
  readonly testCase: TestCase;
};

/** Why a result is wrong; nothing if it is right. What should be there is for analysts. */
type Wrong = { readonly reason: string; readonly details?: string };

const MOST_REASON = 600;

async function scoreRun(run: CodeRun, { files, rule, item, testCase }: Scored): Promise<Wrong | undefined> {
  if ('problem' in run) return { reason: `the code failed: ${lastWords(run.problem)}` };
  const gold = await readWorkbook(await files.bytes(testCase.answer));
  const got = await readWorkbook(run.output).catch((error: Error) => error.message);
  if (typeof got === 'string') return { reason: `the output cannot be read: ${got}` };
  const { isEqual, isError, differences, differing } = compareWorkbooks(gold, got, whereOf(item, rule));
  if (isEqual) return undefined;
  if (isError) return { reason: `it cannot be scored: ${differences[0]}` };
  const empty =
    got.uncalculated === 0 ? '' : ` (${plural(got.uncalculated, 'formula')} without a value: read as empty)`;
  const more = differing > 1 ? `, and ${plural(differing - 1, 'more difference')}` : '';
  return { reason: `${head(differences[0]!, MOST_REASON)}${more}${empty}`, details: differences.join('\n') };
}

export const whereOf = ({ answerPosition, answerSheet }: SpreadsheetItem, rule: Rule) => ({
  position: answerPosition,
  sheet: answerSheet,
  rule,
});

/** Programs say at the end why they failed. */
const lastWords = (text: string): string => {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const [first = '', last = ''] = [lines[0], lines.at(-1)];
  return head(lines.length > 1 ? `${first}: ${last.trim()}` : first, MOST_REASON);
};
