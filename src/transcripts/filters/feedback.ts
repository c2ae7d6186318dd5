import { memoize } from '../../core/text/index.ts';
import type { Place } from '../transcript-source.ts';
import {
  ASKING,
  DENIALS,
  DENIED_WORDS,
  LAST_WORDS,
  NEGATIVE_PHRASES,
  POSITIVE_PHRASES,
  TOO_MUCH,
} from './feedback-phrases.ts';
import { phraseList } from './own-call.ts';

type Kind = 'neg' | 'pos' | 'denied';

/** Further in, a text is a log or a document, not an opinion. */
const MAX_READ_LENGTH = 600;

/**
 * Reads what a prompt says about the work before it: `neg:…` and `pos:…`, in the order of the text, in whole words.
 * `SKILLOPT_SLEEP_NEG_FEEDBACK` and `SKILLOPT_SLEEP_POS_FEEDBACK` add phrases.
 */
export function feedbackReader(env: Place['env']): Reader {
  return readerWith(`${env.SKILLOPT_SLEEP_NEG_FEEDBACK ?? ''}\n${env.SKILLOPT_SLEEP_POS_FEEDBACK ?? ''}`);
}

type Reader = (prompt: string) => readonly string[];

/** Every session of a harvest has the same phrases. */
const readerWith = memoize(makeReader, { maxEntries: 4 });

function makeReader(added: string): Reader {
  const [negative, positive] = added.split('\n');
  const kinds = new Map<string, Kind>([
    ...DENIED_WORDS.map((word) => [word, 'denied'] as const),
    ...[...POSITIVE_PHRASES, ...phraseList(positive)].map((phrase) => [phrase, 'pos'] as const),
    ...[...NEGATIVE_PHRASES, ...phraseList(negative)].map((phrase) => [phrase, 'neg'] as const),
  ]);
  const pattern = patternOf([...kinds.keys()]);
  return (prompt) => {
    const text = ownWords(prompt);
    const signals = new Set<string>();
    pattern.lastIndex = 0; // `matchAll` would make the long pattern again for every prompt
    for (let hit = pattern.exec(text); hit !== null; hit = pattern.exec(text)) {
      const { 0: phrase, index } = hit;
      if (!isWhole(text, phrase, index)) pattern.lastIndex = index + 1;
      else
        addSignal(signals, {
          phrase,
          kind: kinds.get(phrase)!,
          before: clauseBefore(text, index),
          after: text.slice(index),
        });
    }
    for (const signal of wholeRemarks(text)) signals.add(signal);
    return [...signals];
  };
}

/** Whole remarks: words that say something only by where they stand. */
function wholeRemarks(text: string): string[] {
  const praise = LAST.exec(text.slice(-REMARK_LENGTH))?.[1];
  const found = TOO.exec(text);
  const isQuestion = found !== null && asksAt(text.slice(found.index + found[0].length));
  const complaint = isQuestion ? undefined : found?.[1];
  return [...(complaint === undefined ? [] : [`neg:${complaint}`]), ...(praise === undefined ? [] : [`pos:${praise}`])];
}

type Hit = { readonly phrase: string; readonly kind: Kind; readonly before: string; readonly after: string };

function addSignal(signals: Set<string>, hit: Hit): void {
  const signal = signalOf(hit);
  if (signal !== undefined) signals.add(signal);
}

function signalOf({ phrase, kind, before, after }: Hit): string | undefined {
  const name = phrase.replace(/[,.!]$/, '');
  const isDenied = DENIED.test(before);
  if (kind === 'neg') return isDenied || ASKED.test(before) ? undefined : `neg:${name}`;
  if (isDenied) return `neg:not ${name}`;
  const isQuestion = asksAt(after);
  return kind === 'denied' || isQuestion ? undefined : `pos:${name}`;
}

const asksAt = (after: string) => /^[^.!?\n]*\?/.test(after.slice(0, 200));

/** Without code and quotations: what others said is no feedback. */
function ownWords(prompt: string): string {
  const opening = prompt.slice(0, MAX_READ_LENGTH).toLowerCase().replaceAll('’', "'");
  return opening.replace(/```[^`]*(?:```|$)|`[^`\n]*`|^[ \t]*>.*$/gm, ' ').replace(/[ \t]{2,}|\t/g, ' ');
}

const CLAUSE_LENGTH = 60;

const clauseBefore = (text: string, index: number) =>
  text
    .slice(Math.max(0, index - CLAUSE_LENGTH), index)
    .split(/[.,;:!?\n]/)
    .at(-1)!;

const escaped = (phrase: string) => phrase.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const longestFirst = (phrases: readonly string[]) =>
  [...phrases]
    .sort((one, other) => other.length - one.length)
    .map(escaped)
    .join('|');

/** The longest phrase first. A list of plain texts is searched faster than one with conditions: those come after. */
function patternOf(phrases: readonly string[]): RegExp {
  return new RegExp(longestFirst(phrases), 'g');
}

const LETTER = /[\p{L}\p{N}_]/u;
const WITHOUT_SPACES = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;

/** Whether it stands by itself, in scripts that put spaces between words. */
function isWhole(text: string, phrase: string, index: number): boolean {
  const [before, after] = [text.charAt(index - 1), text.charAt(index + phrase.length)];
  if (!LETTER.test(before) && !(LETTER.test(after) && LETTER.test(phrase.at(-1)!))) return true;
  return WITHOUT_SPACES.test(phrase);
}

const endingIn = (words: readonly string[]) =>
  new RegExp(`(?:^|[^a-zäöüßà-ÿ])(?:${words.map(escaped).join('|')})(?: [a-zäöüßà-ÿ']{1,20}){0,2} ?$`);

/** Longer than the last remark, so that a long text is not searched. */
const REMARK_LENGTH = 60;
const LAST = new RegExp(
  `(?:^|[.,;:!?\\n–—-]) *(?:(?:that's|that is|it's|it is|this is|oh|wow|so|das ist|ist) )?(${longestFirst(LAST_WORDS)})[ !.…)✨🙂😀]*$`,
  'u',
);
const TOO = new RegExp(
  `(?:^|[.,;:!?\\n–—-]) *(?:(?:but|and|still|way|much|far|a bit|a little|bit|kind of|it|that|this|is|that's|it's|was|looks|feels|immer noch|viel|etwas|das|ist|es) )*((?:too|zu) (?:${longestFirst(TOO_MUCH)}))(?![a-zäöüß])`,
);
const DENIED = endingIn(DENIALS);
const ASKED = endingIn(ASKING);
