import { memoize } from './collections.ts';

const FENCE = /```(?:json)?([\s\S]+?)```/i;

/** Code that walks through deeper values would run out of stack. */
const MAX_DEPTH = 100;

/** The JSON object in a model's reply: the whole text, the first fenced block, or all from the first `{` to the last `}`. */
export function extractJson(text: string | null | undefined): Record<string, unknown> | undefined {
  for (const candidate of jsonCandidates(text)) {
    const value = parseJson(candidate);
    if (value !== undefined) return isObject(value) ? value : undefined;
  }
  return undefined;
}

/** The pieces of a reply that may be its JSON, the likeliest first. */
export function jsonCandidates(text: string | null | undefined): string[] {
  if (typeof text !== 'string') return [];
  const trimmed = text.trim();
  const fenced = trimmed.match(FENCE)?.[1]?.trim();
  const [first, last] = [trimmed.indexOf('{'), trimmed.lastIndexOf('}')];
  const braced = first !== -1 && last > first ? trimmed.slice(first, last + 1) : undefined;
  return [trimmed, fenced, braced].filter((candidate) => candidate !== undefined && candidate !== '') as string[];
}

/** `undefined` for what is no JSON, or is nested too deeply. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What `value` is once it was written as JSON and read again; texts in it are not copied. */
export function asJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (depth <= MAX_DEPTH && Array.isArray(value) && isPlain(value, Array.prototype))
    return Array.from(value, (entry) => asJson(entry, depth + 1) ?? null);
  if (depth <= MAX_DEPTH && isObject(value) && isPlain(value, Object.prototype)) {
    const copy = {};
    for (const key of Object.keys(value)) {
      const entry = asJson(value[key], depth + 1);
      if (entry !== undefined) setOwn(copy, key, entry);
    }
    return copy;
  }
  // A number may be infinite, an object of some class says itself what it is, and one that holds itself cannot be written.
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}

const isPlain = (value: object, prototype: object): boolean =>
  Object.getPrototypeOf(value) === prototype && !('toJSON' in value);

/** A loop of these is done with a record in a third of the time that a list of its entries takes. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true }); // a key like others
}

/** The same keys with other values. */
export function mapValues<Value>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value, key: string) => unknown,
): Record<string, unknown> {
  const mapped = {};
  for (const key of Object.keys(record)) setOwn(mapped, key, change(record[key]!, key));
  return mapped;
}

/** The end of the JSON object or list that begins at `start`. Brackets in strings do not count. */
export function endOfJson(text: string, start: number): number | undefined {
  let [depth, isInString] = [0, false];
  for (let at = start; at < text.length; at++) {
    const character = text[at]!;
    if (isInString && character === '\\') at++;
    else if (character === '"') isInString = !isInString;
    else if (!isInString && (character === '{' || character === '[')) depth++;
    else if (!isInString && (character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  return undefined;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Level by level: a recursive function could run out of stack. */
function isShallow(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return false;
    level = level.flatMap((inner) => (typeof inner === 'object' && inner !== null ? Object.values(inner) : []));
  }
  return true;
}

/** Characters that do not show, or turn the writing direction. */
export const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** JSON in which nothing hides or moves a cursor: such characters are escaped, and are the same when they are read. */
export const jsonText = (value: unknown): string => escaped(JSON.stringify(value, null, 2));

export const jsonLine = (value: unknown): string => escaped(JSON.stringify(value));

const escaped = (json: string): string => json.replace(HIDDEN, (character) => escapeOf(character));

/** A hidden character seldom comes alone: a text of them would take ten times as long. */
const escapeOf = memoize(
  (character: string) =>
    character
      .split('')
      .map((unit) => `\\u${hex(unit.charCodeAt(0))}`)
      .join(''),
  { maxEntries: 1_000 },
);

export const hex = (code: number) => code.toString(16).toUpperCase().padStart(4, '0');

/** Keys whose values belong to the user: what is inside keeps its spelling. */
const OPAQUE = new Set(['extras', 'conversation', 'buckets', 'identity']);

export const snakeName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** camelCase in code becomes snake_case in view files and in JSON sent to models. */
export const toSnakeCase = renameKeys(snakeName);

export const toCamelCase = renameKeys((key) =>
  key.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
);

function renameKeys(nameOf: (key: string) => string): (value: unknown) => unknown {
  const rename = memoize(nameOf, { maxEntries: 1_000 }); // the same few names come in every record
  const renameIn = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renameIn);
    if (!isObject(value)) return value;
    const renamed = {};
    for (const key of Object.keys(value)) {
      const entry = value[key];
      setOwn(renamed, rename(key), OPAQUE.has(key) ? entry : renameIn(entry));
    }
    return renamed;
  };
  return renameIn;
}

/** As text, whatever it is: an object from a JSON file may have a "toString" that is no function. */
export function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return JSON.stringify(value);
  }
}
