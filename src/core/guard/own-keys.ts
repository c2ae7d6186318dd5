import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { isObject, skillHash } from '../text/index.ts';
import { hideSecrets } from './redact/known-keys.ts';
import { SECRET } from './redact/secret-value.ts';

/**
 * The keys that this process signs in with, and how each may be written. A server, an agent or a verifier may print one. They
 * belong to the process and not to a model: the key of one model must not reach the provider of another.
 */
const known = new Map<string, readonly string[]>();
/** All spellings with their keys, the longest first: a key may be the beginning of another. */
let spellings: readonly (readonly [spelling: string, key: string])[] = [];

/** Agents that sign in themselves may have many. The key that was not used for longest is forgotten. */
const MOST_KEYS = 200;

/** A shorter text occurs in many words. In the message of an error, where a word more or less is no harm, four are enough. */
const SHORTEST_KEY = 8;
export const SHORTEST_IN_MESSAGE = 4;
/** No service has longer ones; a longer text is a document. */
const LONGEST_KEY = 20_000;

/** What people write where a server needs no key: a word, and words that local servers suggest. */
const NO_KEY = /^(?:[a-z]{1,12}|not?-needed|(?:sk-)?no-key-required|lm-studio|held-by-skillopt)$/;

/** From now on `maskKeys` hides it. The name of the scheme before it, as in a header, is no part of it. */
export function knowKey(value: string | undefined): void {
  const key = value?.replace(/^(?:Bearer|Basic)\s+/i, '').trim() ?? '';
  if (key.length < SHORTEST_IN_MESSAGE || key.length > LONGEST_KEY || NO_KEY.test(key)) return;
  const isNew = !known.delete(key);
  known.set(key, spellingsOf(key)); // at the end, as the one that was used last
  const [oldest] = known.size > MOST_KEYS ? known.keys() : [];
  if (oldest !== undefined) known.delete(oldest);
  if (isNew) spellings = [...known].flatMap(([one, all]) => all.map((text) => [text, one] as const)).sort(longestFirst);
}

const longestFirst = ([one]: readonly string[], [other]: readonly string[]) => other!.length - one!.length;

function spellingsOf(key: string): string[] {
  const inJson = JSON.stringify(key).slice(1, -1);
  const bytes = utf8ToBytes(key);
  const hex = bytesToHex(bytes);
  const plain = [key, inJson, JSON.stringify(inJson).slice(1, -1), key.replaceAll('/', '\\/'), encodeURIComponent(key)];
  const encoded = [hex, hex.toUpperCase(), ...[0, 1, 2].flatMap((offset) => inBase64(bytes, offset))];
  return [...new Set([...plain, ...(key.length < SHORTEST_KEY ? [] : encoded)])];
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
  return spellings.reduce(
    (masked, [spelling, key]) =>
      key.length >= shortest && masked.includes(spelling) ? masked.replaceAll(spelling, () => markFor(key)) : masked,
    text,
  );
}

/** What `maskKeys` looks for, the longest first. */
export const keySpellings = (): string[] =>
  spellings.filter(([, key]) => key.length >= SHORTEST_KEY).map(([spelling]) => spelling);

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
