import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { isObject, skillHash } from '../text/index.ts';
import { hideSecrets } from './redact/known-keys.ts';
import { SECRET } from './redact/secret-value.ts';

/**
 * The keys that this process signs in with, and how each may be written. A server, an agent or a verifier may print one. They
 * belong to the process and not to a model: the key of one model must not reach the provider of another.
 */
const known = new Map<string, readonly Spelling[]>();
/** `isEncoded`: in base64 or hex, which tools break into lines. */
type Spelling = { readonly text: string; readonly key: string; readonly isEncoded: boolean };
/** Those of all keys, the longest first: a key may be the beginning of another. */
let spellings: readonly Spelling[] = [];
let encodedSpellings: readonly Spelling[] = [];

/** Agents that sign in themselves may have many. The key that was not used for longest is forgotten. */
const MOST_KEYS = 200;

/** A shorter text occurs in many words. In the message of an error, where a word more or less is no harm, four are enough. */
const SHORTEST_KEY = 8;
export const SHORTEST_IN_MESSAGE = 4;
/** No service has longer ones; a longer text is a document. */
const LONGEST_KEY = 20_000;

/**
 * What people write where a server needs no key: a word, and words that local servers suggest. To mask it would blank that word
 * in tasks, replies and scores. SECURITY.md says so.
 */
const NO_KEY = /^(?:[a-z]{1,12}|not?-needed|(?:sk-)?no-key-required|lm-studio|held-by-skillopt)$/;

/** From now on `maskKeys` hides it. The name of the scheme before it, as in a header, is no part of it. */
export function knowKey(value: string | undefined): void {
  const key = value?.replace(/^(?:Bearer|Basic)\s+/i, '').trim() ?? '';
  if (key.length < SHORTEST_IN_MESSAGE || key.length > LONGEST_KEY || NO_KEY.test(key)) return;
  const isNew = !known.delete(key);
  known.set(key, spellingsOf(key)); // at the end, as the one that was used last
  const [oldest] = known.size > MOST_KEYS ? known.keys() : [];
  if (oldest !== undefined) known.delete(oldest);
  if (!isNew) return;
  spellings = [...known.values()].flat().sort((one, other) => other.text.length - one.text.length);
  encodedSpellings = spellings.filter(({ isEncoded }) => isEncoded);
}

function spellingsOf(key: string): Spelling[] {
  const inJson = JSON.stringify(key).slice(1, -1);
  const bytes = utf8ToBytes(key);
  const hex = bytesToHex(bytes);
  const inAddress = encodeURIComponent(key);
  const plain = [
    ...[key, inJson, JSON.stringify(inJson).slice(1, -1), key.replaceAll('/', '\\/')],
    ...[inAddress, inAddress.replace(/%../g, (code) => code.toLowerCase())],
  ];
  const encoded = [hex, hex.toUpperCase(), ...[0, 1, 2].flatMap((offset) => inBase64(bytes, offset))];
  return [
    ...[...new Set(plain)].map((text) => ({ text, key, isEncoded: false })),
    ...(key.length < SHORTEST_KEY ? [] : [...new Set(encoded)].map((text) => ({ text, key, isEncoded: true }))),
  ];
}

/** The letters that stand for these bytes alone, where `offset` others stand before them in a group of three. */
function inBase64(bytes: Uint8Array, offset: number): string[] {
  const shifted = [...new Uint8Array(offset), ...bytes];
  const [from, to] = [Math.ceil((offset * 8) / 6), Math.floor((shifted.length * 8) / 6)];
  const letters = btoa(String.fromCharCode(...shifted)).slice(from, to);
  return [letters, letters.replaceAll('+', '-').replaceAll('/', '_')];
}

/** Knows the texts in some settings that are credentials, by their names or by themselves. */
export function knowKeysIn(settings: unknown): void {
  for (const [text, name] of textsIn(settings)) if (isSecret(text, name)) knowKey(text);
}

/** The same for what is sent along with every call. There a text that is unlike words may be one too, such as a tenant. */
export function knowKeysSent(sent: unknown): void {
  for (const [text, name] of textsIn(sent))
    if (hideSecrets(text, name) !== text || isUnlikeWords(text, name)) knowKey(text);
}

/** A name such as `sortKey` alone is not enough. */
const isSecret = (text: string, name: string) => hideSecrets(text, name) === '(secret)' || hideSecrets(text) !== text;

const isUnlikeWords = (text: string, name: string) =>
  !/\s/.test(text) &&
  !/version|beta|model|date|agent|accept|type/i.test(name) &&
  (UNUSUAL.test(text) || LONG.test(text));
const UNUSUAL = /^(?=.*\d)(?=.*[a-z]).{12,}$/i;
/** Longer than most words, and no identifier of a program. */
const LONG = /^(?=.*[^a-z_]).{16,}$/i;

function textsIn(value: unknown, name = ''): [text: string, name: string][] {
  if (typeof value === 'string') return value.length > LONGEST_KEY ? [] : [[value, name]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) => textsIn(entry, Array.isArray(value) ? name : key));
}

/** A text in which no key of this process is left, in any spelling that `spellingsOf` knows. */
export function maskKeys(
  text: string,
  shortest = SHORTEST_KEY,
  markFor: (key: string) => string = () => SECRET,
): string {
  const masked = spellings.reduce(
    (before, spelling) =>
      spelling.key.length >= shortest && before.includes(spelling.text)
        ? before.replaceAll(spelling.text, () => markFor(spelling.key))
        : before,
    text,
  );
  return maskBroken(masked, markFor);
}

/** `base64` breaks its lines after 76 letters, `xxd -p` after 60. In JSON a break is written as `\n`. Each run is read once. */
const BREAKS = /\s+|(?<!\\)\\+[nrt]/g;

/** The same for what is broken into lines. The text is searched without its breaks, so that it takes no longer for many of them. */
function maskBroken(text: string, markFor: (key: string) => string): string {
  const shortest = encodedSpellings.at(-1)?.text.length ?? Infinity;
  if (text.length <= shortest || !/[\s\\]/.test(text)) return text;
  const whole = text.replace(BREAKS, '');
  const found = encodedSpellings.filter((spelling) => whole.includes(spelling.text));
  if (found.length === 0) return text;
  const placeOf = placesWithBreaks(text);
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to, key } of found.flatMap((spelling) => placesOf(spelling, whole)).sort(firstFirst)) {
    const [start, end] = [placeOf(from), placeOf(to - 1) + 1];
    if (end <= done) continue;
    if (start >= done) pieces.push(text.slice(done, start), markFor(key)); // else it continues what is hidden already
    done = end;
  }
  return pieces.join('') + text.slice(done);
}

type KeyPlace = { readonly from: number; readonly to: number; readonly key: string };

const firstFirst = (one: KeyPlace, other: KeyPlace) => one.from - other.from || other.to - one.to;

function placesOf({ text, key }: Spelling, whole: string): KeyPlace[] {
  const places: KeyPlace[] = [];
  for (let from = whole.indexOf(text); from !== -1; from = whole.indexOf(text, from + text.length))
    places.push({ from, to: from + text.length, key });
  return places;
}

/** Where a letter of the text without breaks stands in the text. */
function placesWithBreaks(text: string): (at: number) => number {
  const breaks = [...text.matchAll(BREAKS)];
  const starts: number[] = []; // where each break would be, in the text without them
  const removed = [0];
  for (const { index, 0: found } of breaks) {
    starts.push(index - removed.at(-1)!);
    removed.push(removed.at(-1)! + found.length);
  }
  return (at) => at + removed[countUpTo(starts, at)]!;
}

/** How many of these ascending numbers are not above a limit. */
function countUpTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What `maskKeys` looks for in one piece, the longest first. */
export const keySpellings = (): string[] =>
  spellings.filter(({ key }) => key.length >= SHORTEST_KEY).map(({ text }) => text);

/** The same for a name of something, which must stay another one where another key gives other results. */
export const hashKeys = (name: string): string =>
  maskKeys(name, SHORTEST_KEY, (key) => `(hidden ${skillHash(key).slice(0, 12)})`);

/** `maskKeys` for all texts in a value of JSON. */
export function maskKeysIn<Value>(value: Value): Value {
  return spellings.length === 0 ? value : (masked(value) as Value);
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return maskKeys(value);
  if (Array.isArray(value)) return value.map(masked);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [maskKeys(key), masked(entry)]));
}
