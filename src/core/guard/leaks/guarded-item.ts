import { joinWords, memoize, memoizeWeakly, STOP_WORDS, splitWords, weightOf } from '../../text/index.ts';

/** A task as the critic reads it. `answers` also holds strings that a check looks for. */
export type GuardedItem = {
  readonly id: string;
  readonly split: 'train' | 'val' | 'test';
  readonly texts: readonly string[];
  readonly answers: readonly string[];
  /** Those of `answers` that a check, a rubric or a person demands of any answer: a rule may say them. */
  readonly demanded?: readonly string[];
};

/** Kept, since every edit of a run asks about the same items. */
export const inWords = memoizeWeakly((item: GuardedItem) => {
  const [texts, answers] = [item.texts.map(normalise), item.answers.map(normalise)];
  const hasText = texts.some((text) => text.trim() !== '');
  // Equal for items with the same texts and answer. An item without text equals no other.
  const sameness = hasText ? [...texts, answers[0]].join('\n') : undefined;
  const telling = [...new Set(item.answers)].filter(isTellingAnswer).map((written) => {
    const isLong = isLongAnswer(written);
    const digits = isLong ? soleNumberIn(written) : undefined;
    return { written, words: normalise(written), isLong, digits, mayTeach: mayTeach(written, item) };
  });
  return { id: normalise(item.id), texts, answers, telling, sameness };
});

export type TellingAnswer = ReturnType<typeof inWords>['telling'][number];

/** Read when the first number is asked about; most runs ask about none. */
const numbersOf = memoizeWeakly(({ texts, answers }: GuardedItem) => numbersIn([...texts, ...answers].join('\n')));

const normalise = (text: string) => joinWords(splitWords(text));

/** How many different items hold something. An item of two splits counts once. */
export function holdersAmong(items: readonly GuardedItem[]) {
  const { different, haystacks, frequencies } = readAll(items);
  const phrasesOver = memoize((limit: number) =>
    memoize((words: string) => isMoreThan(limit, haystacks, (texts) => texts.some((text) => text.includes(words)))),
  );
  return {
    count: different.length,
    /** Whether more than `limit` of them hold these words. */
    hold: (words: string, limit: number) =>
      isOneWord(words) ? (frequencies.get(words.trim()) ?? 0) > limit : phrasesOver(limit)(words),
    /** Whether each of these words stands in any of them: only then may they stand there side by side. */
    knowAll: (words: string) =>
      words
        .trim()
        .split(' ')
        .every((word) => frequencies.has(word)),
    /** Whether most of them have the answers of others: then an answer is a label, also one that is rare. */
    haveLabels: () => haveLabels(different),
    holdsNumberTwice: memoize((digits: string) => isMoreThan(1, different, (item) => numbersOf(item).has(digits))),
    /** What more than one of them shows, by `shownBy`. */
    shownTwice: (shownBy: (text: string) => readonly string[]) =>
      repeated(haystacks.map((texts) => new Set(texts.flatMap(shownBy)))),
  };
}
export type Holders = ReturnType<typeof holdersAmong>;

function repeated(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  const [once, twice] = [new Set<string>(), new Set<string>()];
  for (const phrase of sets.flatMap((set) => [...set])) (once.has(phrase) ? twice : once).add(phrase);
  return twice;
}

const isOneWord = (words: string) => words.indexOf(' ', 1) === words.length - 1;

type Library = {
  readonly size: number;
  readonly different: readonly GuardedItem[];
  readonly haystacks: readonly (readonly string[])[];
  readonly frequencies: ReadonlyMap<string, number>;
};

const libraries = new WeakMap<readonly GuardedItem[], Library>();

/** A run asks with the same list each time. A list that has grown is read again. */
function readAll(items: readonly GuardedItem[]): Library {
  const before = libraries.get(items);
  if (before?.size === items.length) return before;
  const different = withoutCopies(items);
  const haystacks = different.map(inWords).map(({ id, texts, answers }) => [id, ...texts, ...answers]);
  const library = { size: items.length, different, haystacks, frequencies: countWords(haystacks) };
  libraries.set(items, library);
  return library;
}

function countWords(haystacks: Library['haystacks']): Map<string, number> {
  const counts = new Map<string, number>();
  for (const texts of haystacks) {
    for (const word of new Set(texts.flatMap((text) => text.trim().split(' ')))) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return counts;
}

function withoutCopies(items: readonly GuardedItem[]): GuardedItem[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const { sameness } = inWords(item);
    if (sameness === undefined) return true;
    const isCopy = seen.has(sameness);
    seen.add(sameness);
    return !isCopy;
  });
}

const haveLabels = memoizeWeakly((items: readonly GuardedItem[]) => {
  const answered = items.map((item) => [...new Set(inWords(item).answers)]).filter(({ length }) => length > 0);
  const often = repeated(answered.map((answers) => new Set(answers)));
  return 2 * answered.filter((answers) => answers.every((answer) => often.has(answer))).length > answered.length;
});

/** Stops early: most words stand in many items. */
function isMoreThan<Thing>(limit: number, things: readonly Thing[], holds: (thing: Thing) => boolean): boolean {
  let count = 0;
  for (const thing of things) {
    if (holds(thing) && ++count > limit) return true;
  }
  return false;
}

/** Shorter strings occur in any text: «a», «42», «54 °F». */
const SHORTEST = 3;
const SHORTEST_NUMBER = 4;
/** A longer string means one item and nothing else. */
const LONG_WORDS = 3;
const LONG_NUMBER = 5;
const LONG_CODE = 8;
/** A still longer one is an item's own even where examples may stand. */
const SENTENCE_WORDS = 5;
const KEY = 12;

/** An id, not a word or a small number: it has letters and digits, many digits, or a separator. */
export function isTellingId(id: string): boolean {
  const { letters, digits } = sizesOf(id);
  if (letters === 0) return digits >= LONG_NUMBER;
  const hasSeparator = /[\p{L}\p{N}][^\p{L}\p{N}]+[\p{L}\p{N}]/u.test(id);
  return letters + digits >= SHORTEST && (digits > 0 || hasSeparator);
}

/** Rules are full of small numbers with a unit: «such as 54 °F» gives no task away. */
function isTellingAnswer(answer: string): boolean {
  const { letters, digits } = sizesOf(answer);
  return digits >= SHORTEST_NUMBER || letters >= SHORTEST;
}

/** Three words, a name of two («Wolfgang Pauli»), a number of five digits (without final zeros), or a code («secret42»). */
function isLongAnswer(answer: string): boolean {
  const words = splitWords(answer);
  const weight = words.reduce((sum, word) => sum + weightOf(word), 0);
  const digits = answer.replace(/\P{N}/gu, '').replace(/(?<!0)0+$/, '');
  if (digits.length >= LONG_NUMBER || words.some(isCode)) return true;
  if (isFullName(answer)) return true;
  return weight >= LONG_WORDS && words.some((word) => !STOP_WORDS.has(word));
}

/** A round number is a limit, and what any answer must have is a rule. */
const mayTeach = (answer: string, { demanded = [] }: GuardedItem): boolean =>
  demanded.includes(answer) || isRoundNumber(answer);

const isRoundNumber = (answer: string): boolean =>
  sizesOf(answer).letters < SHORTEST && answer.replace(/\P{N}/gu, '').replace(/0+$/, '').length <= 2;

/** Five words, or a long code: no example of a form. Numbers and names are such examples («as in 2024-01-15»). */
export function saysEnough(answer: string): boolean {
  const words = splitWords(answer).filter((word) => /\p{L}{2}/u.test(word) || weightOf(word) < 1);
  const weight = words.reduce((sum, word) => sum + weightOf(word), 0);
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return (weight >= SENTENCE_WORDS && telling.length >= 2) || words.some((word) => isCode(word) && word.length >= KEY);
}

export const beginsWithCapital = (answer: string): boolean => /^\P{L}*\p{Lu}/u.test(answer);

const isCode = (word: string) => word.length >= LONG_CODE && /\p{L}/u.test(word) && /\p{N}/u.test(word);

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

/** Digits in groups: «5,252.75», «+1 (755) 555-4350», «2024-01-15». A comma with a space after it begins another number. */
const NUMBER = /(?<![\p{L}\p{N}])\p{N}+(?:(?:[ .,'’_/-]|\) ?| ?\()\p{N}+)*/gu;
/** More than any number has; a table of figures would give too many runs. */
const MOST_GROUPS = 6;

/** The digits of every number that a text may mean: «5,252.75» gives 525275, and also 5, 252, 75 and so on. */
export function numbersIn(text: string): ReadonlySet<string> {
  const numbers = new Set<string>();
  for (const groups of groupsOfDigits(text)) {
    for (let start = 0; start < groups.length; start++) {
      let digits = '';
      for (const group of groups.slice(start, start + MOST_GROUPS)) {
        digits += group;
        numbers.add(digits);
      }
    }
  }
  return numbers;
}

const groupsOfDigits = (text: string): string[][] =>
  [...text.normalize('NFKC').matchAll(NUMBER)].map(([number]) => number.match(/\p{N}+/gu) ?? []);

function soleNumberIn(text: string): string | undefined {
  const [number, ...others] = groupsOfDigits(text);
  const letters = text.match(/\p{L}+/gu) ?? [];
  return number === undefined || others.length > 0 || letters.length > 1 ? undefined : number.join('');
}
