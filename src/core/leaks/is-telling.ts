import { STOP_WORDS, splitWords, weightOf } from './words.ts';

/** Shorter strings turn up in any text: «a», «42», «54 °F». */
const SHORTEST = 3;
const SHORTEST_NUMBER = 4;
/** From here on a string means one item and nothing else. */
const LONG_WORDS = 3;
const LONG_NUMBER = 5;
const LONG_CODE = 8;

/** An id, not a word or a small number of the language: it has letters and digits, many digits, or a separator. */
export function isTellingId(id: string): boolean {
  const { letters, digits } = sizesOf(id);
  if (letters === 0) return digits >= LONG_NUMBER;
  const hasSeparator = /[\p{L}\p{N}][^\p{L}\p{N}]+[\p{L}\p{N}]/u.test(id);
  return letters + digits >= SHORTEST && (digits > 0 || hasSeparator);
}

/** Rules are full of small numbers with a short unit: «such as 54 °F» gives no task away. */
export function isTellingAnswer(answer: string): boolean {
  const { letters, digits } = sizesOf(answer);
  return digits >= SHORTEST_NUMBER || letters >= SHORTEST;
}

/**
 * Three words or more, a name of two («Wolfgang Pauli»), a number of five digits or more (without the zeros that round it),
 * or a code such as «secret42».
 */
export function isLongAnswer(answer: string): boolean {
  const words = splitWords(answer);
  const weight = words.reduce((sum, word) => sum + weightOf(word), 0);
  const digits = answer.replace(/\P{N}/gu, '').replace(/(?<!0)0+$/, '');
  if (digits.length >= LONG_NUMBER || words.some(isCode)) return true;
  if (isFullName(answer)) return true;
  return weight >= LONG_WORDS && words.some((word) => !STOP_WORDS.has(word));
}

const isCode = (word: string) => word.length >= LONG_CODE && /\p{L}/u.test(word) && /\p{N}/u.test(word);

/** Two words that are written with a capital letter. */
function isFullName(answer: string): boolean {
  const words = answer.match(/[\p{L}\p{M}'’]+/gu) ?? [];
  const isPartOfName = (word: string) => /^\p{Lu}../u.test(word) && !STOP_WORDS.has(word.toLowerCase());
  return words.length > 1 && words.every(isPartOfName);
}

function sizesOf(text: string): { letters: number; digits: number } {
  const characters = splitWords(text).join('');
  const digits = characters.match(/\p{N}/gu)?.length ?? 0;
  return { letters: [...characters].length - digits, digits };
}
