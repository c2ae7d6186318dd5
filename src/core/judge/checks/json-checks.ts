import { parseJson } from '../../text/extract-json.ts';
import { type JsonSchema, whyUnfit } from '../json-schema.ts';

/** The whole answer is JSON, and fits the schema if there is one. */
export function isJson(answer: string, schema: JsonSchema | undefined): boolean {
  const value = parseJson(answer);
  return value !== undefined && fits(value, schema);
}

const fits = (value: unknown, schema: JsonSchema | undefined) =>
  schema === undefined || whyUnfit(value, schema) === undefined;

/** An object or list stands somewhere in the answer and fits the schema. */
export function containsJson(answer: string, schema: JsonSchema | undefined): boolean {
  return jsonValuesIn(answer).some((value) => fits(value, schema));
}

/** Beginnings that may come to nothing, each read to the end of the text. */
const MAX_STARTS = 200;

/** Every object and list in a text, in order. What is inside one of them is a part of it. */
function jsonValuesIn(text: string): unknown[] {
  const found: unknown[] = [];
  let [behind, starts] = [0, 0];
  for (const { index } of text.matchAll(/[{[]/g)) {
    if (index < behind) continue;
    if (++starts > MAX_STARTS) return found;
    const end = endOfValue(text, index);
    const value = end === undefined ? undefined : parseJson(text.slice(index, end));
    if (value === undefined) continue;
    found.push(value);
    behind = end!;
  }
  return found;
}

/** Just behind the bracket that closes the one at `start`. Brackets in strings do not count. */
function endOfValue(text: string, start: number): number | undefined {
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

/** A text must be the same, letter by letter; an object or list the same as JSON, whatever the order of its keys. */
export function equalsValue(answer: string, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return answer === String(value);
  const given = parseJson(answer);
  return given !== undefined && isSame(given, value);
}

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const [keys, others] = [Object.keys(a), Object.keys(b)];
  if (Array.isArray(a) !== Array.isArray(b) || keys.length !== others.length) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]));
}
