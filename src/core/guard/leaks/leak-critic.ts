import { joinWords, phrasesIn, STOP_WORDS, splitWords, textsOf } from '../../text/index.ts';
import {
  beginsWithCapital,
  type GuardedItem,
  type Holders,
  holdersAmong,
  inWords,
  isTellingId,
  numbersIn,
  saysEnough,
  type TellingAnswer,
} from './guarded-item.ts';
import { namesTask, placesOf, placesOfNumber } from './names-task.ts';

export type LeakInput = {
  readonly edit: string;
  readonly items: readonly GuardedItem[];
  /** What every item says: the task's rules, its output format. To repeat it is no leak. */
  readonly contract?: readonly string[];
  /** What else is read beside the skill. To repeat answers of training items that it says is no copy. */
  readonly surroundings?: string;
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
  /** Answers of training items that are copied beside their question, or say enough alone. */
  readonly copied: readonly LeakFinding[];
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
 * Of training items, which are there to be learned from, only copied answers are refused.
 */
export function findLeaks({ edit, items, contract = [], surroundings = '', maxMemorisedShare }: LeakInput): LeakReport {
  const holders = holdersAmong(items);
  const brought = readEdit(edit, holders);
  const shared = sharing(holders, contract, brought);
  const all = items.flatMap((item) => findingsOf(item, brought, shared));
  const findings = all.filter(({ split }) => split !== 'train');
  const memorised = all.filter(({ split }) => split === 'train');
  const trained = items.filter(({ split }) => split === 'train');
  const around = once(() => joinWords(splitWords(surroundings)));
  const copied = trained.flatMap((item) => copiesOf(item, brought, shared, around));
  const memorisedShare = trained.length === 0 ? 0 : new Set(memorised.map(({ id }) => id)).size / trained.length;
  const reason = explain({ findings, copied, memorisedShare }, maxMemorisedShare);
  return { isRefused: reason !== undefined, reason, findings, copied, memorisedShare, memorised };
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
    haveLabels: holders.haveLabels,
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
  const asked = { item, answer: words, places: placesOf(words, text), edit: brought, isRare: shared.isRare };
  return isLong || namesTask(asked, ({ count, hasName, areAll }) => count > 1 || hasName || areAll);
}

/** Answers of a training item that an edit copies. What a rule may show as an example is a copy only beside words of the question. */
function copiesOf(item: GuardedItem, brought: EditWords, shared: SharedWords, around: () => string): LeakFinding[] {
  const { id, split } = item;
  const isCopy = (answer: TellingAnswer) =>
    !answer.mayTeach &&
    givesAnswerAway(answer, item, brought, shared) &&
    !around().includes(answer.words) &&
    isCopied(answer, item, brought, shared);
  const copies = inWords(item).telling.filter(isCopy);
  return copies.map(({ written }) => ({ kind: 'answer', split, id, text: written }));
}

function isCopied(answer: TellingAnswer, item: GuardedItem, brought: EditWords, shared: SharedWords): boolean {
  const { written, words, digits, isLong } = answer;
  if (saysEnough(written) || (isLong && phraseOf(item, brought, shared) !== undefined)) return true;
  if (shared.haveLabels()) return false;
  const places = digits === undefined ? placesOf(words, brought.text) : placesOfNumber(digits, brought.text);
  const isTelling = isLong || beginsWithCapital(written);
  return namesTask({ item, answer: words, places, edit: brought, isRare: shared.isRare }, (cues) => {
    if (isLong && cues.count > 1) return true;
    return cues.count > 2 || (cues.hasName && (isTelling || cues.count > 1)) || cues.areAll;
  });
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

type Found = Pick<LeakReport, 'findings' | 'copied' | 'memorisedShare'>;

function explain({ findings, copied, memorisedShare }: Found, limit = Number.POSITIVE_INFINITY): string | undefined {
  const [first] = findings;
  const [copy] = copied;
  if (first !== undefined) {
    return `it repeats ${NAMES[first.kind]} of ${first.split} item ${first.id}: "${first.text}"${others(findings)}`;
  }
  if (copy !== undefined) return `it repeats the answer of training task ${copy.id}: "${copy.text}"${others(copied)}`;
  if (!(memorisedShare > limit)) return undefined;
  return `it repeats ${(100 * memorisedShare).toFixed(0)} % of the training items; at most ${(100 * limit).toFixed(0)} % are allowed`;
}

const others = ({ length }: readonly LeakFinding[]) => (length === 1 ? '' : `, and ${length - 1} more`);

const NAMES = { id: 'the id', answer: 'an answer', phrase: 'words' } as const;
