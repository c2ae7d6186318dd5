/** A value as Python holds it. `written` is all that is not text and holds nothing: numbers, True, None. */
export type Literal =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'written'; readonly text: string }
  | { readonly kind: 'list'; readonly entries: readonly Literal[] }
  | { readonly kind: 'tuple'; readonly entries: readonly Literal[] }
  | { readonly kind: 'dict'; readonly entries: readonly (readonly [key: Literal, value: Literal])[] };

/** A value of JSON as Python would hold it. A number no longer shows whether it was written 5 or 5.0. */
export function toLiteral(value: unknown): Literal {
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (typeof value === 'boolean') return { kind: 'written', text: value ? 'True' : 'False' };
  if (typeof value === 'number') return { kind: 'written', text: isWhole(value) ? String(value) : floatText(value) };
  if (Array.isArray(value)) return { kind: 'list', entries: value.map(toLiteral) };
  if (typeof value !== 'object' || value === null) return { kind: 'written', text: 'None' };
  const entries = Object.entries(value).map(([key, inner]) => [toLiteral(key), toLiteral(inner)] as const);
  return { kind: 'dict', entries };
}

const isWhole = (value: number) => Number.isSafeInteger(value) && !Object.is(value, -0);

/** `str(value)` of Python. */
export const str = (value: Literal): string => (value.kind === 'text' ? value.text : repr(value));

/** `repr(value)` of Python. */
export function repr(value: Literal): string {
  if (value.kind === 'text') return quoted(value.text);
  if (value.kind === 'written') return value.text;
  if (value.kind === 'dict')
    return `{${value.entries.map(([key, inner]) => `${repr(key)}: ${repr(inner)}`).join(', ')}}`;
  const inner = value.entries.map(repr).join(', ');
  if (value.kind === 'list') return `[${inner}]`;
  return value.entries.length === 1 ? `(${inner},)` : `(${inner})`;
}

const UNPRINTABLE = /[\\\p{C}\p{Z}]/gu;
const SHORT: Readonly<Record<string, string>> = { ' ': ' ', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const shown = text.replace(UNPRINTABLE, (character) => SHORT[character] ?? escapeOf(character.codePointAt(0)!));
  return quote + (quote === "'" ? shown.replaceAll("'", "\\'") : shown) + quote;
}

function escapeOf(code: number): string {
  const [letter, length] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8];
  return `\\${letter}${code.toString(16).padStart(Number(length), '0')}`;
}

/** `repr` of a float: the digits are the same as here, their form is not. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return String(value).replace('Infinity', 'inf').replace('NaN', 'nan');
  const [digits, power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${digits}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  const plain = Object.is(value, -0) ? '-0' : String(value);
  return plain.includes('.') ? plain : `${plain}.0`;
}
