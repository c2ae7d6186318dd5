const UNSPACED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}';
const WORD = new RegExp(`[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{N}])+`, 'gu');
const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u');

/** Words in lower case, without punctuation: what two texts share however they are written. */
export function splitWords(text: string): readonly string[] {
  return text.normalize('NFKC').toLowerCase().match(WORD) ?? [];
}

/** The words with a space around each, so that a search for some of them finds whole words only. */
export function joinWords(words: readonly string[]): string {
  return ` ${words.join(' ')} `;
}

const weights = new Map<number, number>();

/** Where phrases are counted. Scripts without spaces have a word per character, at half weight. */
export function weightOf(word: string, at = 0): number {
  const code = word.codePointAt(at)!;
  if (code < 0x0e00) return 1; // Thai, the first of them
  const weight = weights.get(code) ?? (IS_UNSPACED.test(String.fromCodePoint(code)) ? 0.5 : 1);
  weights.set(code, weight);
  return weight;
}

/** A run of words in a text that `joinWords` made: from the space before it to the space behind it. */
export type Phrase = { readonly text: string; readonly start: number; readonly end: number };

/**
 * Every run of words that weighs `size` and not one word more than it must. What a run is depends on its words alone: two
 * texts have a run in common when its text is among the runs of both.
 */
export function* phrasesIn(joined: string, size: number): Generator<Phrase> {
  if (joined.trim() === '') return;
  let [weight, end] = [0, 0];
  for (let start = 0; start < joined.length - 1; start = joined.indexOf(' ', start + 1)) {
    while (end < joined.length - 1 && weight < size) {
      weight += weightOf(joined, end + 1);
      end = joined.indexOf(' ', end + 1);
    }
    if (weight < size) return;
    yield { text: joined.slice(start, end + 1), start, end };
    weight -= weightOf(joined, start + 1);
  }
}

export function textsOf(phrases: Iterable<Phrase>): ReadonlySet<string> {
  const texts = new Set<string>();
  for (const { text } of phrases) texts.add(text);
  return texts;
}

/** English words that tell nothing about a task: those of any sentence, and those of any rule about answers. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a an the this that it its is are was were be do does did has have can may
  and or not no yes if then when so as of in on at to for from by with about
  what which who where how many much there none one only all each any first
  answer question reply say give write use word words true false unknown end`.split(/\s+/),
);
