import type { RolloutOutput } from '../env.ts';
import { includesText } from '../text/includes-text.ts';
import { strip } from '../text/python-text.ts';
import type { TaskScorer } from './task-judge.ts';

/** How an answer compares with a reference: whether it holds it, and how many of its words. */
export type ExactScore = { readonly hard: 0 | 1; readonly soft: number };

/** Lower case, and single spaces for all that is neither letter, digit nor underscore. */
const normalise = (text: string) => strip(text.toLowerCase().replace(/[^\p{L}\p{N}_]+/gu, ' '));

/**
 * `hard`: the answer holds the reference, also inside a word. `soft`: at least the share of the reference's different words
 * of more than two letters that it holds.
 */
export function scoreExact(reference: string, answer: string): ExactScore {
  const [wanted, given] = [normalise(reference), normalise(answer)];
  const hard = wanted !== '' && includesText(given, wanted) ? 1 : 0;
  return { hard, soft: Math.max(hard, sharedWords(wanted, given)) };
}

/** The share of a reference's words that an answer holds; 0 when it has none that count. */
export function keywordScore(reference: string, answer: string): number {
  return sharedWords(normalise(reference), normalise(answer));
}

/** More would be a text to search for a text: the words of a very long reference are sampled from its beginning. */
const MAX_WORDS = 200;

function sharedWords(wanted: string, given: string): number {
  const words = [...new Set(wanted.split(' '))].filter((word) => Array.from(word).length > 2).slice(0, MAX_WORDS);
  if (words.length === 0) return 0;
  return words.filter((word) => includesText(given, word)).length / words.length;
}

/** Built into every environment that takes task judges. */
export const exactJudge: TaskScorer<'exact'> = {
  kind: 'exact',
  version: '1',
  score({ judge, answer }): RolloutOutput {
    const references = typeof judge.reference === 'string' ? [judge.reference] : judge.reference;
    const scores = references.map((reference) => scoreExact(reference, answer));
    const hard = scores.some((score) => score.hard === 1) ? 1 : 0;
    const soft = Math.max(...scores.map((score) => score.soft));
    const wanted = references.map((reference) => JSON.stringify(reference)).join(' or ');
    const failReason = `not the expected answer: it does not hold ${wanted}`;
    return { hard, soft, ...(hard === 1 ? {} : { failReason }) };
  },
};
