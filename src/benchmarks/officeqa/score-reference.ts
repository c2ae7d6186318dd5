import { WHITESPACE } from '../../core/text/index.ts';
import { wordOverlap } from '../../envs/index.ts';

/** ASCII punctuation without the point, the minus and the percent sign. */
const PUNCTUATION = /[!-$&-,/:-@[-`{-~]/g;
// Spelled out because `\b` knows ASCII letters only.
const UNIT_WORD = /(?<![\p{L}\p{N}_])(?:millions?|billions?|dollars?|nominal)(?![\p{L}\p{N}_])/gu;
const SPACES = new RegExp(`[${WHITESPACE}]+`);

/** SkillOpt's normal form of an answer, as words. */
const wordsOf = (text: string): string[] =>
  text.toLowerCase().replace(PUNCTUATION, '').replace(UNIT_WORD, ' ').split(SPACES).filter(Boolean);

export const normalizeReference = (text: string): string => wordsOf(text).join(' ');

/** The rule of SkillOpt: equal texts after normalisation (`hard`), shared words (`soft`). */
export function scoreReference(answer: string, gold: string): { readonly hard: 0 | 1; readonly soft: number } {
  const [given, wanted] = [wordsOf(answer), wordsOf(gold)];
  if (given.join(' ') === wanted.join(' ')) return { hard: 1, soft: 1 };
  return { hard: 0, soft: wordOverlap(given, wanted) };
}
