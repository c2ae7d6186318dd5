import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ChatMessage } from '../core/contracts/index.ts';
import { fence, memoize, parseJson } from '../core/text/index.ts';

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

export type JudgeQuestion = {
  readonly messages: readonly ChatMessage[];
  /** Reads the reply. */
  readonly schema: z.ZodType<JudgeReply, unknown>;
};

/** The answer's score from 0 to 1, and why. */
export type JudgeReply = { readonly score: number; readonly reason: string };

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

export function askToCompare(
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
export function readVerdict(text: string, schema: JudgeQuestion['schema']): Verdict {
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
    const end = endOfObject(text, index);
    read += (end ?? text.length) - index;
    const value = end === undefined ? undefined : parseJson(text.slice(index, end));
    if (value !== undefined) found.push(value);
    else if (++falseStarts > MAX_FALSE_STARTS || read > MAX_READ) return []; // it is not known what else the text says
    behind = value === undefined ? behind : end!;
  }
  return found;
}

/** The index behind the brace that closes the one at `start`. Braces in strings do not count. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (isInString && character === '\\') at++;
    else if (character === '"') isInString = !isInString;
    else if (!isInString && character === '{') depth++;
    else if (!isInString && character === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}
