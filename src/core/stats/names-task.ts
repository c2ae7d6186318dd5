import { type GuardedItem, inWords } from './guarded-item.ts';
import { phrasesOf, splitWords } from './words.ts';

type Named = {
  /** An edit, and the answer of an item in it, both as `joinWords` writes them. */
  readonly text: string;
  readonly answer: string;
  readonly item: GuardedItem;
  readonly isRare: (word: string) => boolean;
};

/** About twenty words: who gives an answer away says close to it what it answers. */
const REACH = 120;

/**
 * Whether an edit says next to an answer which item it answers: by a rare name or number of the item's text, or by two other
 * rare words. Of a text that has only one such word, that one is enough.
 */
export function namesTask({ text, answer, item, isRare }: Named): boolean {
  const { texts } = inWords(item);
  const isCue = (word: string) => !answer.includes(word) && texts.some((own) => own.includes(word)) && isRare(word);
  return placesOf(answer, text).some((at) => {
    const [first, second] = new Set(wordsAround(text, at, answer.length).filter(isCue));
    if (first === undefined) return false;
    return second !== undefined || isName(first, item.texts) || !texts.some(hasOther(first, isCue));
  });
}

const hasOther = (first: string, isCue: (word: string) => boolean) => (text: string) =>
  wordsOf(text).some((word) => word !== first && isCue(word));

function placesOf(needle: string, text: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) places.push(at);
  return places;
}

function wordsAround(text: string, at: number, length: number): string[] {
  const start = text.lastIndexOf(' ', Math.max(0, at - REACH));
  const end = text.indexOf(' ', at + length + REACH);
  const after = text.slice(at + length, end === -1 ? text.length : end);
  return [...wordsOf(text.slice(Math.max(0, start), at)), ...wordsOf(after)];
}

/** Words with a space on either side. In scripts without spaces, pairs of characters stand for them. */
const wordsOf = (text: string) => phrasesOf(splitWords(text), 1);

/** A word with three digits, or one that has a capital letter within a sentence. */
function isName(word: string, texts: readonly string[]): boolean {
  if (/\p{N}{3}/u.test(word)) return true;
  const capitalised = texts.flatMap((text) => [...text.matchAll(/[\p{L}\p{N},;)]\s+(?=(\p{Lu}[\p{L}\p{N}]*))/gu)]);
  return capitalised.some((match) => match[1]!.toLowerCase() === word.trim());
}
