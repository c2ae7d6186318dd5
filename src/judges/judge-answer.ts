import { readFileSync } from 'node:fs';
import { z } from 'zod';
import {
  type ChatMessage,
  type ChatModel,
  type ChatReply,
  ModelCallError,
  type RolloutOutput,
  type RolloutResult,
} from '../core/contracts/index.ts';
import { combineJudgements, type Judgement } from '../core/stats/index.ts';
import { endOfJson, fence, memoize, parseJson } from '../core/text/index.ts';

export type JudgeAnswerInput = JudgeSubject & {
  /** The model that a rollout is handed. */
  readonly judge: ChatModel | undefined;
  /** How often the judge is asked, each time independently. With a reference at least twice: once in each position. */
  readonly repeats?: number;
  readonly signal?: AbortSignal | undefined;
};

export type AnswerJudgement = {
  /** From 0 to 1. `null` without a judgement, or with judgements in one position only, which say nothing about the answer. */
  readonly score: number | null;
  /** One for every time that the judge was asked, in order. */
  readonly judgements: readonly SingleJudgement[];
};

/**
 * Asks a model how good an answer is: by a rubric alone, or blind beside a reference, in both positions in turn, so that a
 * preference for one of them cancels. After a reply that cannot be read, or with verdicts that differ, it asks once more; then
 * that judgement is missing. Throws when the model cannot be reached.
 */
export async function judgeAnswer(input: JudgeAnswerInput): Promise<AnswerJudgement> {
  const { judge, repeats = 2, signal, ...subject } = input;
  if (!judge) {
    const hint = 'Give the trainer a `judge`, or the project file `judge: provider:model`.';
    const details = { isRetryable: false, isFatal: true, hint };
    throw new ModelCallError('These tasks are scored by a judge model, and there is none', details);
  }
  const judgements: SingleJudgement[] = [];
  // One after the other: a rollout has one call in flight, to a judge too.
  for (const [sampleIndex, { position, ...question }] of questionsOf(subject, repeats).entries()) {
    const reply = await askJudge(question, { judge, sampleIndex, signal });
    judgements.push({ ...(position ? { position } : {}), ...(reply ?? { score: null, reason: '' }) });
  }
  return { score: combine(judgements), judgements };
}

function questionsOf({ reference, ...subject }: JudgeSubject, repeats: number) {
  const count = Math.max(reference === undefined ? 1 : 2, Math.floor(repeats));
  return Array.from({ length: count }, (_, index): JudgeQuestion & Pick<SingleJudgement, 'position'> => {
    if (reference === undefined) return askForScore(subject);
    const position = index % 2 === 0 ? ('first' as const) : ('second' as const);
    return { ...askToCompare(subject, reference, position), position };
  });
}

type JudgeDraw = {
  readonly judge: ChatModel;
  /** Draws with different indexes are independent. */
  readonly sampleIndex: number;
  readonly signal: AbortSignal | undefined;
};

/** After a reply that does not fit, the judge is shown the error once. */
async function askJudge(
  question: JudgeQuestion,
  { judge, sampleIndex, signal }: JudgeDraw,
): Promise<JudgeReply | undefined> {
  const { schema } = question;
  const messages: ChatMessage[] = [...question.messages];
  const isUsable = ({ text }: ChatReply) => 'said' in readVerdict(text, schema);
  for (let attempt = 0; attempt < 2; attempt++) {
    const request = { messages: [...messages], stage: 'judge', schema, sampleIndex, isUsable };
    const reply = await judge.complete({ ...request, ...(signal ? { signal } : {}) });
    const verdict = readVerdict(reply.text, schema);
    if ('said' in verdict) return verdict.said;
    messages.push(...complaint(reply, verdict.problem)); // which also makes it another question for a cache
  }
  return undefined;
}

function complaint({ text }: ChatReply, problem: string): ChatMessage[] {
  const content = `That reply cannot be used:\n${problem}\nAnswer with the JSON object alone, as described above.`;
  const said = text.trim() === '' ? '(no text)' : text; // providers refuse an empty turn
  return [
    { role: 'assistant', content: said },
    { role: 'user', content },
  ];
}

function combine(judgements: readonly SingleJudgement[]): number | null {
  const { scores } = combineJudgements(judgements.map((judgement) => toJudgement(judgement, { id: '', rollout: 0 })));
  return scores[0]?.score ?? null;
}

export type JudgedOutputOptions = {
  /** The lowest score that counts as success. With a reference, 0.5 means as good as the reference. */
  readonly passMark?: number;
};

/**
 * A judgement as the result of a rollout. Without a score the result is missing, which is not zero: no mean counts it and
 * no analyst sees it.
 */
export function judgedOutput(
  { score, judgements }: AnswerJudgement,
  { passMark = 0.5 }: JudgedOutputOptions = {},
): RolloutOutput {
  const extras = { judgements };
  if (score === null) {
    return { hard: 0, soft: 0, errored: true, unjudged: true, failReason: whyMissing(judgements), extras };
  }
  const hard = score >= passMark ? 1 : 0;
  return { hard, soft: score, ...(hard ? {} : { failReason: whyFailed(judgements, passMark) }), extras };
}

function whyMissing(judgements: readonly SingleJudgement[]): string {
  const asked = `asked ${judgements.length} times`;
  const isOneSided = judgements.some(({ position, score }) => position !== undefined && score !== null);
  if (isOneSided) return `judged in one position only, ${asked}: a score takes both`;
  return `the judge gave no judgement that can be used, ${asked}`;
}

/** The reason of the judgement with the lowest score. */
function whyFailed(judgements: readonly SingleJudgement[], passMark: number): string {
  const [worst] = judgements.filter(({ score }) => score !== null).sort((a, b) => a.score! - b.score!);
  return `judged below ${passMark}: ${worst?.reason || 'no reason given'}`;
}

/** What a judge said about an answer when it was asked once. */
export const SingleJudgement = z.object({
  /** With a reference: where the answer stood. */
  position: z.enum(['first', 'second']).optional(),
  /** `null`: the reply could not be read. */
  score: z.number().min(0).max(1).nullable(),
  /** In the judge's words. */
  reason: z.string().default(''),
});
export type SingleJudgement = z.infer<typeof SingleJudgement>;

const Extras = z.object({ judgements: z.array(SingleJudgement) });

/** The single judgements of a pass over tasks, as `combineJudgements` takes them. `rollout` is the pass's number. */
export const judgementsOf = (results: readonly RolloutResult[], rollout: number): Judgement[] =>
  results.flatMap(({ id, extras }) => {
    const judgements = Extras.safeParse(extras).data?.judgements ?? [];
    return judgements.map((judgement) => toJudgement(judgement, { id, rollout }));
  });

function toJudgement({ position, score }: SingleJudgement, of: Pick<Judgement, 'id' | 'rollout'>): Judgement {
  return { ...of, score, ...(position === undefined ? {} : { position }) };
}

/** What a judge is asked about: a task, an answer to it, and the measure. */
export type JudgeSubject = {
  readonly question: string;
  readonly answer: string;
  /** What a good answer is, in the words of the environment's author. */
  readonly rubric: string;
  /** In place of the rubric: statements that each hold or do not. The score is the share that hold. */
  readonly criteria?: readonly string[] | undefined;
  /** An answer to compare with. Without one, the answer is scored by itself. */
  readonly reference?: string | undefined;
};

type JudgeQuestion = {
  readonly messages: readonly ChatMessage[];
  /** Reads the reply. */
  readonly schema: z.ZodType<JudgeReply, unknown>;
};

/** The answer's score from 0 to 1, and why. */
type JudgeReply = { readonly score: number; readonly reason: string };

const reasoned = z.object({ reason: z.string().nullish() });

const Scored = reasoned
  .extend({ score: z.number().min(0).max(1) })
  .transform(({ reason, score }): JudgeReply => ({ score, reason: reason ?? '' }));

/** A win is 1, a tie a half, a loss 0, for the answer that was shown under the name `own`. */
const comparedAs = (own: 'A' | 'B') =>
  reasoned.extend({ winner: z.enum(['A', 'B', 'tie']) }).transform(({ reason, winner }): JudgeReply => {
    return { score: winner === 'tie' ? 0.5 : Number(winner === own), reason: reason ?? '' };
  });
const Compared = { first: comparedAs('A'), second: comparedAs('B') };

const metOf = (count: number) =>
  reasoned.extend({ met: z.array(z.boolean()).length(count) }).transform(({ reason, met }): JudgeReply => {
    return { score: met.filter(Boolean).length / count, reason: reason ?? '' };
  });

export function askForScore({ question, answer, rubric, criteria }: JudgeSubject): JudgeQuestion {
  const user = `## Task\n${fence('task', question)}\n\n## Answer\n${fence('answer', answer)}`;
  if (criteria === undefined) return { messages: toMessages('score_answer', rubric, user), schema: Scored };
  const list = criteria.map((criterion, index) => `${index + 1}. ${criterion}`).join('\n');
  return { messages: toMessages('meet_criteria', list, user), schema: metOf(criteria.length) };
}

function askToCompare(
  { question, answer, rubric }: JudgeSubject,
  reference: string,
  position: 'first' | 'second',
): JudgeQuestion {
  const [a, b] = position === 'first' ? [answer, reference] : [reference, answer];
  const answers = `## Answer A\n${fence('answer', a)}\n\n## Answer B\n${fence('answer', b)}`;
  const user = `## Task\n${fence('task', question)}\n\n${answers}`;
  return { messages: toMessages('compare_answers', rubric, user), schema: Compared[position] };
}

function toMessages(prompt: PromptFile, rubric: string, user: string): ChatMessage[] {
  const measure = prompt === 'meet_criteria' ? 'Statements' : 'Rubric';
  const system = `${readPrompt(prompt)}\n## ${measure}\n${rubric}`;
  return [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ];
}

type PromptFile = 'score_answer' | 'compare_answers' | 'meet_criteria';

const readPrompt = memoize((name: PromptFile) =>
  readFileSync(new URL(`./prompts/${name}.md`, import.meta.url), 'utf8'),
);

type Verdict = { readonly said: JudgeReply } | { readonly problem: string };

/**
 * What a judge's reply says. A judge may quote what it reads, and an answer may hold a verdict on itself. The text does not
 * show which of two is the judge's own, so verdicts that differ do not count.
 */
function readVerdict(text: string, schema: JudgeQuestion['schema']): Verdict {
  const read = jsonObjects(text).map((object) => schema.safeParse(object));
  const verdicts = read.flatMap(({ data }) => data ?? []);
  const said = verdicts.at(-1);
  if (!said) {
    const error = read.at(-1)?.error ?? schema.safeParse(undefined).error!;
    return { problem: z.prettifyError(error).replaceAll('→ at', 'at') };
  }
  if (verdicts.every(({ score }) => score === said.score)) return { said };
  return { problem: `It holds ${verdicts.length} JSON objects that do not say the same. Do not quote any.` };
}

/** How an object begins that is not empty. Braces of code mostly do not. */
const START = /\{\s*"/g;

/** A model that repeats itself up to its limit writes thousands of beginnings, and each is read to the end of the text. */
const MAX_FALSE_STARTS = 200;
/** In characters, for all beginnings together. */
const MAX_READ = 8_000_000;

/** Every JSON object with a key in a text, in order, without those inside another one. */
export function jsonObjects(text: string): unknown[] {
  const found: unknown[] = [];
  let [falseStarts, read] = [0, 0];
  let behind = 0;
  for (const { index } of text.matchAll(START)) {
    if (index < behind) continue;
    const end = endOfJson(text, index);
    read += (end ?? text.length) - index;
    const value = end === undefined ? undefined : parseJson(text.slice(index, end));
    if (value !== undefined) found.push(value);
    else if (++falseStarts > MAX_FALSE_STARTS || read > MAX_READ) return []; // it is not known what else the text says
    behind = value === undefined ? behind : end!;
  }
  return found;
}
