import type { World } from '../../../src/sim/index.ts';
import { TOPICS } from '../../../src/sim/world/topics.ts';
import { readQuestion } from '../../../src/sim/world/world.ts';

type Asked = { readonly question: string; readonly answers: readonly string[] };

export type Good = { readonly valid: number; readonly distinct: number; readonly good: number };

/**
 * Tasks whose reference is what the house wants, tasks that no earlier one asks in whatever words, and those that are both. Two
 * tasks are the same when they are about the same fact of the same record, as the world itself counts them.
 */
export function countGood(tasks: readonly Asked[], world: World): Good {
  const seen = new Set<string>();
  const marks = tasks.map((task) => {
    const fact = factOf(task.question);
    const isDistinct = !seen.has(fact);
    seen.add(fact);
    return { isValid: isValid(task, world), isDistinct };
  });
  const count = (holds: (mark: (typeof marks)[number]) => boolean) => marks.filter(holds).length;
  return {
    valid: count(({ isValid }) => isValid),
    distinct: count(({ isDistinct }) => isDistinct),
    good: count((mark) => mark.isValid && mark.isDistinct),
  };
}

function isValid({ question, answers }: Asked, { rules }: World): boolean {
  const reading = readQuestion(question);
  if (!reading) return false;
  const rule = rules.find(({ topic }) => topic === reading.topic.name)?.text;
  const truth = reading.topic.variants.find((variant) => variant.rule === rule);
  return answers.length === 1 && answers[0] === reading.answer(truth);
}

function factOf(question: string): string {
  const reading = readQuestion(question);
  const record = question.match(/\b\d{6}\b/)?.[0];
  return reading ? [TOPICS.indexOf(reading.topic), record, reading.answer()].join(' ') : question;
}
