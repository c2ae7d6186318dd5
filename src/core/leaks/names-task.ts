import { memoize } from '../memoize.ts';
import { type GuardedItem, inWords } from './guarded-item.ts';
import { type Phrase, phrasesIn, textsOf } from './words.ts';

type Named = {
  /** An edit, and the answer of an item in it, both as `joinWords` writes them. */
  readonly text: string;
  /** The words of the edit. */
  readonly words: readonly Phrase[];
  readonly answer: string;
  readonly item: GuardedItem;
  readonly isRare: (word: string) => boolean;
};

/** About twenty words: an edit that gives an answer away says close to it what it answers. */
const REACH = 120;

/**
 * Whether an edit says next to an answer which item it answers: by a rare name or number of the item's text, or by two other
 * rare words. Of a text that has only one such word, that one is enough.
 */
export function namesTask({ text, words, answer, item, isRare }: Named): boolean {
  const own = wordsOf(item);
  const isCue = memoize((word: string) => !answer.includes(word) && own.has(word) && isRare(word));
  const isEnough = memoize(
    (cue: string) => isName(cue, item.texts) || ![...own].some((word) => word !== cue && isCue(word)),
  );
  const cues = words.filter(({ text: word }) => isCue(word));
  return placesOf(answer, text).some((at) => {
    const near = new Set(around(cues, text, at, answer.length));
    const [first] = near;
    return first !== undefined && (near.size > 1 || isEnough(first));
  });
}

/** The cues within reach of a place: before it, then behind it. */
function around(cues: readonly Phrase[], text: string, at: number, length: number): string[] {
  const from = Math.max(0, text.lastIndexOf(' ', Math.max(0, at - REACH)));
  const behind = text.indexOf(' ', at + length + REACH);
  const to = behind === -1 ? text.length : behind;
  const found: string[] = [];
  for (let index = firstFrom(cues, from); index < cues.length && cues[index]!.start < to; index++) {
    const { text: word, start, end } = cues[index]!;
    if (end <= at || (start >= at + length - 1 && end <= to)) found.push(word);
  }
  return found;
}

/** The first of them that begins at `from` or later: they are in order. */
function firstFrom(cues: readonly Phrase[], from: number): number {
  let [low, high] = [0, cues.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cues[middle]!.start < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

function placesOf(needle: string, text: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) places.push(at);
  return places;
}

const known = new WeakMap<GuardedItem, ReadonlySet<string>>();

/** Words with a space on either side. In scripts without spaces, pairs of characters stand for them. */
function wordsOf(item: GuardedItem): ReadonlySet<string> {
  const words = known.get(item) ?? new Set(inWords(item).texts.flatMap((text) => [...textsOf(phrasesIn(text, 1))]));
  known.set(item, words);
  return words;
}

/** A word with three digits, or one that has a capital letter within a sentence. */
function isName(word: string, texts: readonly string[]): boolean {
  if (/\p{N}{3}/u.test(word)) return true;
  const capitalised = texts.flatMap((text) => [...text.matchAll(/[\p{L}\p{N},;)]\s+(?=(\p{Lu}[\p{L}\p{N}]*))/gu)]);
  return capitalised.some((match) => match[1]!.toLowerCase() === word.trim());
}
