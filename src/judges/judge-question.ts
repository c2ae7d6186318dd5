import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ChatMessage } from '../core/contracts/index.ts';
import { fence } from '../core/text/index.ts';

/** Where the answer stands beside a reference. The judge is not told which is which. */
export type Position = 'first' | 'second';

/** What a judge is asked about: a task, what came of it, and by what it is measured. */
export type JudgeSubject = {
  readonly question: string;
  readonly answer: string;
  /** What a good answer is, in the words of the environment's author. The judge follows it. */
  readonly rubric: string;
  /** In place of the rubric, statements that each hold or do not; the score is the share that hold. */
  readonly criteria?: readonly string[] | undefined;
  /** An answer to compare with. Without one, the answer is scored by itself. */
  readonly reference?: string | undefined;
};

/** One thing to ask a judge, with how its reply is read. */
export type JudgeQuestion = {
  readonly messages: readonly ChatMessage[];
  readonly schema: z.ZodType<JudgeReply, unknown>;
};

/** A reply in the end: the answer's score from 0 to 1, and why. */
export type JudgeReply = { readonly score: number; readonly reason: string };

const reasoned = z.object({ reason: z.string().nullish() });

const Scored = reasoned
  .extend({ score: z.number().min(0).max(1) })
  .transform(({ reason, score }): JudgeReply => ({ score, reason: reason ?? '' }));

/** A win is 1, a tie a half, a loss 0: for the answer that went by this name. */
const comparedAs = (own: 'A' | 'B') =>
  reasoned.extend({ winner: z.enum(['A', 'B', 'tie']) }).transform(({ reason, winner }): JudgeReply => {
    return { score: winner === 'tie' ? 0.5 : Number(winner === own), reason: reason ?? '' };
  });
const Compared = { first: comparedAs('A'), second: comparedAs('B') };

/** Yes or no to each of so many statements. */
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
  position: Position,
): JudgeQuestion {
  const [a, b] = position === 'first' ? [answer, reference] : [reference, answer];
  const answers = `## Answer A\n${fence('answer', a)}\n\n## Answer B\n${fence('answer', b)}`;
  const user = `## Task\n${fence('task', question)}\n\n${answers}`;
  return { messages: toMessages('compare_answers', rubric, user), schema: Compared[position] };
}

function toMessages(prompt: PromptFile, rubric: string, user: string): ChatMessage[] {
  const system = `${readPrompt(prompt)}\n## ${prompt === 'meet_criteria' ? 'Statements' : 'Rubric'}\n${rubric}`;
  return [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ];
}

type PromptFile = 'score_answer' | 'compare_answers' | 'meet_criteria';

const prompts = new Map<PromptFile, string>();

function readPrompt(name: PromptFile): string {
  const text = prompts.get(name) ?? readFileSync(new URL(`./prompts/${name}.md`, import.meta.url), 'utf8');
  prompts.set(name, text);
  return text;
}
