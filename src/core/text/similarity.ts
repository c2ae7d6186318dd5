const UNSPACED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}';
const WORD = new RegExp(`[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{N}])+`, 'gu');
const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u');

export const splitWords = (text: string): readonly string[] => text.normalize('NFKC').toLowerCase().match(WORD) ?? [];

/** From the beginning of a run of marks: a search from within would read the rest of it again and again. */
const SENTENCE_MARKS =
  /(?<![.,;:!?\u2026\u00bf\u00a1])[.,;:!?\u2026\u00bf\u00a1]+(?=\s|$)|["\u201c\u201d\u201e\u00ab\u00bb]/gu;
const NUMBERING = /^\s*(?:(?:question|frage|task|q)\s*)?\(?\d{1,4}[.):]+\s+/u;

/** Equal for questions that differ only in case, spaces, punctuation of sentences or a number in front. Signs of formulas count. */
export const askedKey = (question: string): string =>
  question
    .normalize('NFC')
    .toLowerCase()
    .replace(NUMBERING, '')
    .replace(SENTENCE_MARKS, '')
    .split(/\s+/)
    .join(' ')
    .trim();

/** The words with a space around each: a search for some of them finds whole words only. */
export const joinWords = (words: readonly string[]): string => ` ${words.join(' ')} `;

const weights = new Map<number, number>();

/** What a word counts in a phrase. Scripts without spaces have a word per character, at half weight. */
export function weightOf(word: string, at = 0): number {
  const code = word.codePointAt(at)!;
  if (code < 0x0e00) return 1; // Thai, the first of them
  const weight = weights.get(code) ?? (IS_UNSPACED.test(String.fromCodePoint(code)) ? 0.5 : 1);
  weights.set(code, weight);
  return weight;
}

/** A run of words in what `joinWords` made, with the spaces around it. */
export type Phrase = { readonly text: string; readonly start: number; readonly end: number };

/** Every run of words that weighs `size`, and not one word more than it must. A run depends on its words alone. */
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

export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a an the this that it its is are was were be do does did has have can may
  and or not no yes if then when so as of in on at to for from by with about
  what which who where how many much there none one only all each any first
  answer question reply say give write use word words true false unknown end`.split(/\s+/),
);

/** From this similarity on, two texts are the same task in other words: one must not be the other's exam. */
const NEAR_DUPLICATE = 0.7;

const MOST_WORDS = 2_000;

export type Words = ReadonlySet<string>;

export const wordsOf = (text: string): Words => new Set(splitWords(text).slice(0, MOST_WORDS));

export function jaccard(a: Words, b: Words): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const word of small) if (large.has(word)) shared += 1;
  return shared === 0 ? 0 : shared / (a.size + b.size - shared);
}

/** Finds all sets that are at least `threshold` similar. It counts shared words instead of comparing all with all; it is exact. */
export class SimilarityIndex {
  readonly #threshold: number;
  readonly #holders = new Map<string, number[]>();
  readonly #sizes: number[] = [];
  /** How many words each set shares with the one that is looked up. All 0 between two searches. */
  readonly #shared: number[] = [];

  constructor(threshold: number) {
    this.#threshold = threshold;
  }

  add(words: Words): void {
    const number = this.#sizes.push(words.size) - 1;
    this.#shared.push(0);
    for (const word of words) {
      const holders = this.#holders.get(word);
      if (holders) holders.push(number);
      else this.#holders.set(word, [number]);
    }
  }

  similarTo(words: Words): { readonly number: number; readonly similarity: number }[] {
    const touched: number[] = [];
    for (const word of words) {
      for (const number of this.#holders.get(word) ?? []) {
        if (this.#shared[number] === 0) touched.push(number);
        this.#shared[number]! += 1;
      }
    }
    return touched.flatMap((number) => {
      const shared = this.#shared[number]!;
      this.#shared[number] = 0;
      const similarity = shared / (words.size + this.#sizes[number]! - shared);
      return similarity >= this.#threshold ? [{ number, similarity }] : [];
    });
  }
}

/** A group number for each text. Near-duplicates share a group, also through a chain of others; a text without words is alone. */
export function nearDuplicateGroups(texts: readonly string[]): number[] {
  const sets = texts.map(wordsOf);
  const keys = sets.map(keyOf);
  const distinct = new Map(keys.map((key, number) => [key, sets[number]!]));
  const roots = joinSimilar([...distinct.values()]);
  const groupOf = new Map([...distinct.keys()].map((key, number) => [key, roots[number]!]));
  return keys.map((key, number) => (key === '' ? -1 - number : groupOf.get(key)!));
}

const keyOf = (words: Words) => [...words].sort().join(' ');

function joinSimilar(sets: readonly Words[]): number[] {
  const index = new SimilarityIndex(NEAR_DUPLICATE);
  const parents = sets.map((_, number) => number);
  for (const [number, words] of sets.entries()) {
    for (const { number: other } of index.similarTo(words)) parents[rootOf(parents, number)] = rootOf(parents, other);
    index.add(words);
  }
  return parents.map((_, number) => rootOf(parents, number));
}

/** Where a chain of parents ends. All on the way are tied to the end, so that the next search is short. */
function rootOf(parents: number[], number: number): number {
  let root = number;
  while (parents[root] !== root) root = parents[root]!;
  for (let at = number; at !== root; ) {
    const next = parents[at]!;
    parents[at] = root;
    at = next;
  }
  return root;
}

type Asking = { readonly intent: string };

export function withoutNearDuplicates<Task extends Asking>(
  tasks: readonly Task[],
  others: readonly Asking[] = [],
): Task[] {
  const index = new SimilarityIndex(NEAR_DUPLICATE);
  for (const { intent } of others) index.add(wordsOf(intent));
  return tasks.filter(({ intent }) => {
    const words = wordsOf(intent);
    const isNew = index.similarTo(words).length === 0;
    if (isNew) index.add(words);
    return isNew;
  });
}

export function nearDuplicateOf(texts: readonly string[]): (text: string) => boolean {
  const index = new SimilarityIndex(NEAR_DUPLICATE);
  for (const text of texts) index.add(wordsOf(text));
  return (text) => index.similarTo(wordsOf(text)).length > 0;
}
