import {
  joinWords,
  memoize,
  memoizeWeakly,
  type Phrase,
  phrasesIn,
  STOP_WORDS,
  splitWords,
  textsOf,
} from '../../text/index.ts';
import {
  type GuardedItem,
  type Holders,
  holdersAmong,
  inWords,
  isTellingId,
  numbersIn,
  type TellingAnswer,
} from './guarded-item.ts';

export type LeakInput = {
  readonly edit: string;
  readonly items: readonly GuardedItem[];
  /** What every item says: the task's rules, its output format. To repeat it is no leak. */
  readonly contract?: readonly string[];
  /** Refuses an edit that repeats a larger share of the training items. */
  readonly maxMemorisedShare?: number;
};

export type LeakFinding = {
  readonly kind: 'id' | 'answer' | 'phrase';
  readonly split: GuardedItem['split'];
  readonly id: string;
  readonly text: string;
};

export type LeakReport = {
  readonly isRefused: boolean;
  readonly reason: string | undefined;
  readonly findings: readonly LeakFinding[];
  /** Share of the training items that it repeats something of, and what. */
  readonly memorisedShare: number;
  readonly memorised: readonly LeakFinding[];
};

/** Judges a text that is to become part of a skill. */
export type LeakCritic = (text: string) => Pick<LeakReport, 'reason' | 'memorisedShare'> & { readonly kind?: string };

/** Words in a row that are too many for chance. */
const PHRASE_WORDS = 5;
/** How many of them must mean something: «at the end of the» stands in any text. */
const TELLING_WORDS = 2;

/**
 * What an edit repeats of single items. A string that several items share, or that the contract holds, teaches the task and is
 * allowed; one of a single item gives that item away. A short answer («such as blue») counts only beside words that name its item.
 */
export function findLeaks({ edit, items, contract = [], maxMemorisedShare }: LeakInput): LeakReport {
  const holders = holdersAmong(items);
  const brought = readEdit(edit, holders);
  const shared = sharing(holders, contract, brought);
  const all = items.flatMap((item) => findingsOf(item, brought, shared));
  const findings = all.filter(({ split }) => split !== 'train');
  const memorised = all.filter(({ split }) => split === 'train');
  const trained = items.filter(({ split }) => split === 'train').length;
  const memorisedShare = trained === 0 ? 0 : new Set(memorised.map(({ id }) => id)).size / trained;
  const reason = explain(findings, memorisedShare, maxMemorisedShare);
  return { isRefused: reason !== undefined, reason, findings, memorisedShare, memorised };
}

function sharing(holders: Holders, contract: readonly string[], { phrases }: EditWords) {
  const rules = joinWords(contract.flatMap(splitWords));
  const figures = once(() => numbersIn(contract.join('\n')));
  const isStop = (word: string) => STOP_WORDS.has(word.trim());
  // Read when the first is asked about: most edits repeat nothing.
  const ruleWords = once(() => textsOf(phrasesIn(rules, 1)));
  const rulePhrases = once(() => longPhrasesIn(rules));
  const oftenShown = once(() => holders.shownTwice((text) => common(longPhrasesIn(text), phrases)));
  return {
    has: (words: string) => rules.includes(words) || holders.hold(words, 1),
    hasPhrase: (phrase: string) => rulePhrases().has(phrase) || oftenShown().has(phrase),
    hasNumber: (digits: string) => figures().has(digits) || holders.holdsNumberTwice(digits),
    /** A word that few items use: it may say which item is meant. */
    isRare: (word: string) => !isStop(word) && !ruleWords().has(word) && !holders.hold(word, few(holders, 0.01)),
    /** A word of any sentence, in whatever language the items are. */
    isCommon: (word: string) => isStop(word) || holders.hold(word, few(holders, 0.1)),
  };
}
type SharedWords = ReturnType<typeof sharing>;

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const few = ({ count }: Holders, share: number) => Math.max(2, Math.floor(share * count));

function readEdit(edit: string, { knowAll }: Holders) {
  const text = joinWords(splitWords(edit));
  const phrases = new Set([...longPhrasesIn(text)].filter(knowAll)); // hardly any: then no item is searched for them
  return {
    written: edit.toLowerCase(),
    text,
    words: once(() => [...phrasesIn(text, 1)]),
    numbers: once(() => numbersIn(edit)),
    phrases,
  };
}
type EditWords = ReturnType<typeof readEdit>;

const longPhrasesIn = (text: string) => textsOf(phrasesIn(text, PHRASE_WORDS));

const common = (ours: ReadonlySet<string>, theirs: ReadonlySet<string>) =>
  [...ours].filter((phrase) => theirs.has(phrase));

function findingsOf(item: GuardedItem, brought: EditWords, shared: SharedWords): LeakFinding[] {
  const { id, split } = item;
  const finding = (kind: LeakFinding['kind'], text: string): LeakFinding => ({ kind, split, id, text: text.trim() });
  const answers = inWords(item).telling.filter((answer) => givesAnswerAway(answer, item, brought, shared));
  const phrase = phraseOf(item, brought, shared);
  return [
    ...(givesIdAway(item, brought, shared) ? [finding('id', id)] : []),
    ...answers.map(({ written }) => finding('answer', written)),
    ...(phrase === undefined ? [] : [finding('phrase', phrase)]),
  ];
}

/** Only an id as it is written counts: «Example 1:» does not mean the item example-1. */
function givesIdAway(item: GuardedItem, { written, text }: EditWords, shared: SharedWords): boolean {
  const { id } = inWords(item);
  // What is telling is asked last: it costs most, and hardly any id is repeated.
  return written.includes(item.id.toLowerCase()) && text.includes(id) && !shared.has(id) && isTellingId(item.id);
}

function givesAnswerAway(answer: TellingAnswer, item: GuardedItem, brought: EditWords, shared: SharedWords): boolean {
  const { words, digits, isLong } = answer;
  const { text, numbers } = brought;
  if (digits !== undefined) return numbers().has(digits) && !shared.hasNumber(digits);
  if (!text.includes(words) || shared.has(words)) return false;
  return isLong || namesTask(words, item, brought, shared);
}

function phraseOf(item: GuardedItem, { phrases }: EditWords, { hasPhrase, isCommon }: SharedWords): string | undefined {
  if (phrases.size === 0) return undefined;
  const isTelling = (phrase: string) =>
    phrase
      .trim()
      .split(' ')
      .filter((word) => !isCommon(` ${word} `)).length >= TELLING_WORDS;
  const shown = inWords(item).texts.flatMap((text) => common(longPhrasesIn(text), phrases));
  return shown.find((phrase) => !hasPhrase(phrase) && isTelling(phrase));
}

function explain(
  findings: readonly LeakFinding[],
  memorised: number,
  limit = Number.POSITIVE_INFINITY,
): string | undefined {
  const first = findings[0];
  if (first !== undefined) {
    const more = findings.length === 1 ? '' : `, and ${findings.length - 1} more`;
    return `it repeats ${NAMES[first.kind]} of ${first.split} item ${first.id}: "${first.text}"${more}`;
  }
  if (!(memorised > limit)) return undefined;
  return `it repeats ${(100 * memorised).toFixed(0)} % of the training items; at most ${(100 * limit).toFixed(0)} % are allowed`;
}

const NAMES = { id: 'the id', answer: 'an answer', phrase: 'words' } as const;

/** About twenty words: an edit that gives an answer away names its task nearby. */
const REACH = 120;

/**
 * Whether an edit names the item of an answer next to it: by a rare name or number of the item's text, or by two other rare
 * words. One is enough if the text has only one.
 */
function namesTask(answer: string, item: GuardedItem, { text, words }: EditWords, { isRare }: SharedWords): boolean {
  const own = wordsOf(item);
  const isCue = memoize((word: string) => !answer.includes(word) && own.has(word) && isRare(word));
  const isEnough = memoize(
    (cue: string) => isName(cue, item.texts) || ![...own].some((word) => word !== cue && isCue(word)),
  );
  const cues = words().filter(({ text: word }) => isCue(word));
  for (let at = text.indexOf(answer); at !== -1; at = text.indexOf(answer, at + 1)) {
    const near = new Set(around(cues, text, at, answer.length));
    const [first] = near;
    if (first !== undefined && (near.size > 1 || isEnough(first))) return true;
  }
  return false;
}

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
