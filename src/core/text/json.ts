import { memoize } from './collections.ts';

const FENCE = /```(?:json)?([\s\S]+?)```/i;

/** Deeper nesting is never meant, and code that walks through it would run out of stack. */
const MAX_DEPTH = 100;

/**
 * The JSON object in a model's reply: the whole text, else the first fenced block, else from the first `{` to
 * the last `}`. `undefined` when none of them is an object, or when its brackets are nested beyond reason.
 */
export function extractJson(text: string | null | undefined): Record<string, unknown> | undefined {
  for (const candidate of jsonCandidates(text)) {
    const value = parseJson(candidate);
    if (value !== undefined) return isObject(value) ? value : undefined;
  }
  return undefined;
}

/** The pieces of a reply that may be its JSON, most likely first. */
export function jsonCandidates(text: string | null | undefined): string[] {
  if (typeof text !== 'string') return [];
  const trimmed = text.trim();
  const fenced = trimmed.match(FENCE)?.[1]?.trim();
  const [first, last] = [trimmed.indexOf('{'), trimmed.lastIndexOf('}')];
  const braced = first !== -1 && last > first ? trimmed.slice(first, last + 1) : undefined;
  return [trimmed, fenced, braced].filter((candidate) => candidate !== undefined && candidate !== '') as string[];
}

/** What a text is as JSON; `undefined` when it is none, or nested beyond reason. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An object with keys: neither `null` nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Level by level, since a function that calls itself is what must be spared. */
function isShallow(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return false;
    level = level.flatMap((inner) => (typeof inner === 'object' && inner !== null ? Object.values(inner) : []));
  }
  return true;
}

/** Control characters but tab and newline, marks that turn the writing direction, and all that has no shape of its own. */
export const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** A value as JSON in which nothing can hide or move a cursor: such characters are escaped, and read back as they were. */
export const jsonText = (value: unknown): string => escaped(JSON.stringify(value, null, 2));

/** The same on one line. */
export const jsonLine = (value: unknown): string => escaped(JSON.stringify(value));

function escaped(json: string): string {
  return json.replace(HIDDEN, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at))}`).join(''),
  );
}

/** A code as Unicode names it. */
export const hex = (code: number) => code.toString(16).toUpperCase().padStart(4, '0');

/** Keys whose values belong to the user: what is inside keeps its spelling. */
const OPAQUE = new Set(['extras', 'conversation', 'buckets', 'identity']);

/** The same few names come in every record. */
const KEPT = { maxEntries: 1_000 };
const toSnake = memoize((key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), KEPT);
const toCamel = memoize(
  (key: string) => key.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
  KEPT,
);

/** The border codec, outwards: camelCase in code becomes snake_case in view files and in JSON sent to models. */
export function toSnakeCase(value: unknown): unknown {
  return renameKeys(value, toSnake);
}

/** The border codec, inwards. Total: anything that is not an object or a list comes back as it is. */
export function toCamelCase(value: unknown): unknown {
  return renameKeys(value, toCamel);
}

function renameKeys(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((entry) => renameKeys(entry, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [rename(key), OPAQUE.has(key) ? entry : renameKeys(entry, rename)]),
  );
}
