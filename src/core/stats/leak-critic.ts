import { joinWords, phrasesOf, splitWords } from './words.ts';

/** A task item as the critic reads it. `answers` also holds strings that a check looks for. */
export type GuardedItem = {
  readonly id: string;
  readonly split: 'train' | 'val' | 'test';
  readonly texts: readonly string[];
  readonly answers: readonly string[];
};

export type LeakInput = {
  /** The text that the edit brings in. */
  readonly edit: string;
  readonly items: readonly GuardedItem[];
  /** What every item is told: the task's rules, its output format. Repeating it is no leak. */
  readonly contract?: readonly string[];
  /** Refuse an edit that repeats a larger share of the training items. No limit unless given. */
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
  /** What the edit repeats of validation and test items. */
  readonly findings: readonly LeakFinding[];
  /** Share of the training items of which it repeats something, and which. */
  readonly memorisedShare: number;
  readonly memorised: readonly LeakFinding[];
};

/** What is said of a text that shall become part of a skill. */
export type LeakCritic = (text: string) => Pick<LeakReport, 'reason' | 'memorisedShare'>;

/** Words in a row that are too many for chance. */
const PHRASE_WORDS = 5;
/** Shorter strings turn up in any text: «a», «42». */
const SHORTEST = 3;
const SHORTEST_NUMBER = 4;

/**
 * What an edit repeats of single items. A string that several items share, or that the contract holds, teaches the task and
 * is allowed; one that occurs in a single item gives that item away.
 */
export function findLeaks({ edit, items, contract = [], maxMemorisedShare }: LeakInput): LeakReport {
  const shared = countSharing(items, contract);
  const words = splitWords(edit);
  const phrases = phrasesOf(words, PHRASE_WORDS);
  const brought = { text: joinWords(words), phrases, beginnings: byBeginning(phrases) };
  const all = items.flatMap((item) => findingsOf(item, brought, shared));
  const findings = all.filter(({ split }) => split !== 'train');
  const memorised = all.filter(({ split }) => split === 'train');
  const trained = items.filter(({ split }) => split === 'train').length;
  const memorisedShare = trained === 0 ? 0 : new Set(memorised.map(({ id }) => id)).size / trained;
  const reason = explain(findings, memorisedShare, maxMemorisedShare);
  return { isRefused: reason !== undefined, reason, findings, memorisedShare, memorised };
}

type InWords = { readonly id: string; readonly texts: readonly string[]; readonly answers: readonly string[] };

/** The same items are asked about with every edit of a run. */
const known = new WeakMap<GuardedItem, InWords>();

function inWords(item: GuardedItem): InWords {
  const before = known.get(item);
  if (before) return before;
  const join = (text: string) => joinWords(splitWords(text));
  const words = { id: join(item.id), texts: item.texts.map(join), answers: item.answers.map(join) };
  known.set(item, words);
  return words;
}

type IsShared = (needle: string) => boolean;

/** True for what the contract holds or more than one item does. */
function countSharing(items: readonly GuardedItem[], contract: readonly string[]): IsShared {
  const known = joinWords(contract.flatMap(splitWords));
  const haystacks = items.map((item) => {
    const { id, texts, answers } = inWords(item);
    return [id, ...texts, ...answers];
  });
  const memory = new Map<string, boolean>();
  const look = (needle: string) =>
    known.includes(needle) || haystacks.filter((texts) => texts.some((text) => text.includes(needle))).length > 1;
  return (needle) => {
    const seen = memory.get(needle) ?? look(needle);
    memory.set(needle, seen);
    return seen;
  };
}

/** What an edit brings in: its words, and every run of them that is too long for chance. */
type Brought = {
  readonly text: string;
  readonly phrases: readonly string[];
  readonly beginnings: ReadonlyMap<string, readonly string[]>;
};

/** The first three words from a place on: rare enough to tell phrases apart. */
function beginningAt(text: string, start: number): string {
  const second = text.indexOf(' ', start + 1);
  const third = text.indexOf(' ', second + 1);
  return text.slice(start, text.indexOf(' ', third + 1));
}

function byBeginning(phrases: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const phrase of new Set(phrases)) {
    const beginning = beginningAt(phrase, 0);
    groups.set(beginning, [...(groups.get(beginning) ?? []), phrase]);
  }
  return groups;
}

/** The phrases that a text repeats. Goes through the text once: there may be thousands of phrases, and of texts. */
function repeatedIn(text: string, { beginnings }: Brought): string[] {
  const found: string[] = [];
  for (let at = 0; at !== -1; at = text.indexOf(' ', at + 1)) {
    for (const phrase of beginnings.get(beginningAt(text, at)) ?? []) {
      if (text.startsWith(phrase, at)) found.push(phrase);
    }
  }
  return found;
}

function findingsOf(item: GuardedItem, brought: Brought, isShared: IsShared): LeakFinding[] {
  const { id, split, answers } = item;
  const { text, phrases: runs } = brought;
  const words = inWords(item);
  const isLeak = (needle: string) => text.includes(needle) && !isShared(needle);
  const finding = (kind: LeakFinding['kind'], found: string): LeakFinding => ({ kind, split, id, text: found.trim() });
  const ids = isTelling(id) && isLeak(words.id) ? [finding('id', id)] : [];
  const repeated = answers.filter((answer, index) => isTellingAnswer(answer) && isLeak(words.answers[index]!));
  const shown = new Set(words.texts.flatMap((haystack) => repeatedIn(haystack, brought)));
  const phrase = shown.size === 0 ? undefined : runs.find((run) => shown.has(run) && !isShared(run));
  const phrases = phrase === undefined ? [] : [finding('phrase', phrase)];
  return [...ids, ...[...new Set(repeated)].map((answer) => finding('answer', answer)), ...phrases];
}

/** Long enough to mean this item. */
function isTelling(text: string): boolean {
  return lettersOf(text).length >= (/^\p{N}*$/u.test(lettersOf(text)) ? SHORTEST_NUMBER : SHORTEST);
}

/** Rules are full of small numbers with a short unit: «such as 54 °F» gives nobody away. */
function isTellingAnswer(answer: string): boolean {
  const letters = lettersOf(answer);
  const digits = letters.replace(/\P{N}/gu, '').length;
  return digits >= SHORTEST_NUMBER || letters.length - digits >= SHORTEST;
}

const lettersOf = (text: string) =>
  splitWords(text)
    .map((word) => word.text)
    .join('');

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
