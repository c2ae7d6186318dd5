import { memoize, memoizeWeakly, type Phrase, phrasesIn, textsOf } from '../../text/index.ts';
import { type GuardedItem, inWords } from './guarded-item.ts';

/** About twenty words: an edit that gives an answer away names its task nearby. */
const REACH = 120;

/** Where an edit says something, in its joined words. */
export type Place = { readonly start: number; readonly length: number };

export type Asked = {
  readonly item: GuardedItem;
  /** The words of its answer, which do not say which task is meant. */
  readonly answer: string;
  /** Where the edit says that answer. */
  readonly places: Iterable<Place>;
  readonly edit: { readonly text: string; readonly words: () => readonly Phrase[] };
  readonly isRare: (word: string) => boolean;
};

/** What stands near one place of the answer: words that few other items have. */
export type Cues = {
  readonly count: number;
  /** One of them is a rare name or number of the item's text. */
  readonly hasName: boolean;
  /** The text of the item has no others. */
  readonly areAll: boolean;
};

/** Whether an edit names the item of an answer next to it, as `isEnough` has it. */
export function namesTask({ item, answer, places, edit, isRare }: Asked, isEnough: (cues: Cues) => boolean): boolean {
  const own = wordsOf(item);
  const isCue = memoize((word: string) => !answer.includes(word) && own.has(word) && isRare(word));
  const cues = edit.words().filter(({ text: word }) => isCue(word));
  for (const place of places) {
    const near = new Set(around(cues, edit.text, place));
    if (near.size === 0) continue;
    const found = {
      count: near.size,
      // Read only where they decide: a long text has many words and names.
      get hasName() {
        return [...near].some((word) => isName(word, item.texts));
      },
      get areAll() {
        return ![...own].some((word) => !near.has(word) && isCue(word));
      },
    };
    if (isEnough(found)) return true;
  }
  return false;
}

export function* placesOf(words: string, text: string): Generator<Place> {
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + 1)) {
    yield { start: at, length: words.length };
  }
}

/** Where a text writes a number, in whatever groups. */
export function* placesOfNumber(digits: string, text: string): Generator<Place> {
  const groups = new RegExp(` ${[...digits].join(' ?')}(?!\\p{N})`, 'gu');
  for (const { index, 0: found } of text.matchAll(groups)) yield { start: index, length: found.length + 1 };
}

function around(cues: readonly Phrase[], text: string, { start: at, length }: Place): string[] {
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

function firstFrom(cues: readonly Phrase[], from: number): number {
  let [low, high] = [0, cues.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cues[middle]!.start < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Words with a space on either side; pairs of characters in scripts without spaces. */
const wordsOf = memoizeWeakly(
  (item: GuardedItem) => new Set(inWords(item).texts.flatMap((text) => [...textsOf(phrasesIn(text, 1))])),
);

/** A word with three digits, or one that has a capital letter within a sentence. */
function isName(word: string, texts: readonly string[]): boolean {
  if (/\p{N}{3}/u.test(word)) return true;
  const capitalised = texts.flatMap((text) => [...text.matchAll(/[\p{L}\p{N},;)]\s+(?=(\p{Lu}[\p{L}\p{N}]*))/gu)]);
  return capitalised.some((match) => match[1]!.toLowerCase() === word.trim());
}
