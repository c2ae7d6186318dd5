import { jaccard, splitWords, type Words, wordsOf } from '../core/text/index.ts';

/** What a question asks, made for comparing it with others. */
export type Asked = {
  /** Its words in their order: equal for questions that differ in case and punctuation alone. */
  readonly key: string;
  readonly words: Words;
  /** Words with a digit: what the question is about, where tasks follow one pattern. */
  readonly facts: Words;
};

export function readAsked(question: string): Asked {
  const facts = splitWords(question).filter((word) => /\p{N}/u.test(word));
  return { key: splitWords(question).join(' '), words: wordsOf(question), facts: new Set(facts) };
}

/** So many shared words make two questions one, where no figure tells them apart; and where all figures are the same. */
const SAME_WORDS = 0.7;
const SAME_FACTS = 0.5;
/** Or one says nearly all that the other says, and something around it. */
const CONTAINED = 0.8;

/**
 * Whether two questions are the same task, also in other words. Tasks of one pattern differ in a few words of many, mostly in
 * figures: with other figures they are other tasks. With the same ones, more of the wording may differ.
 */
export function isSameTask(a: Asked, b: Asked): boolean {
  if (a.key === b.key) return a.key !== '';
  const [few, many] = a.facts.size <= b.facts.size ? [a.facts, b.facts] : [b.facts, a.facts];
  if (few.size === 0) return many.size === 0 && jaccard(a.words, b.words) >= SAME_WORDS;
  if (![...few].every((fact) => many.has(fact))) return false;
  return jaccard(a.words, b.words) >= SAME_FACTS || contained(a.words, b.words) >= CONTAINED;
}

function contained(a: Words, b: Words): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  return [...small].filter((word) => large.has(word)).length / Math.max(1, small.size);
}
