import { memoize } from '../memoize.ts';

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
