import { strip, WHITESPACE } from '../../core/text/index.ts';

/** A number in an answer, with the unit that stands near it. */
export type Figure = { readonly value: number; readonly unit: string | undefined };

const SPACES = new RegExp(`[${WHITESPACE}]+`, 'g');
const CURRENCY = '$£€¥₹¢₩₽';
const IN_BRACKETS = new RegExp(
  `\\(\\s*([${CURRENCY}])?\\s*(\\d{1,3}(?:,\\d{3})*(?:\\.\\d+)?|\\d+(?:\\.\\d+)?)\\s*\\)`,
  'g',
);
const CURRENCY_SIGN = new RegExp(`[${CURRENCY}]`, 'g');
const THOUSANDS = /(?<![\d.])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)/g;
const FIGURE = /-?\d+\.?\d*%?/g;
const NO_WORD = /[^\p{L}\p{N}_]+/u;

// Codes that end a line for Python.
const SEPARATORS = '\\x1c-\\x1e\\x85\\u2028\\u2029';
/** Between lines, as Python reads them. */
export const LINE_END = new RegExp(`\\r\\n|[\\n\\v\\f\\r${SEPARATORS}]`);

/** How far from a number its unit may stand. */
const UNIT_REACH = 20;

/** The largest first: of two units near a number, the larger one counts. */
const UNITS = [
  ['trillion', 'trillions'],
  ['billion', 'billions', 'b'],
  ['million', 'millions', 'm'],
  ['thousand', 'thousands', 'k'],
] as const;

/** One space between words, and the plain sign for minus. */
export const inOneLine = (text: string): string => strip(text.replaceAll('\u2212', '-').replace(SPACES, ' '));

/** Amounts as accountants write them, `(5)` for -5, and no signs of currencies. A year in brackets stays what it is. */
const plainAmounts = (text: string): string =>
  text
    .replace(IN_BRACKETS, (whole, currency: string | undefined, number: string) =>
      currency === undefined && isYear(Number(number.replaceAll(',', ''))) ? whole : `-${number}`,
    )
    .replace(CURRENCY_SIGN, '');

/** The numbers in a text, in order. */
export function figuresIn(text: string): Figure[] {
  const plain = plainAmounts(inOneLine(text)).replace(THOUSANDS, (number) => number.replaceAll(',', ''));
  return [...plain.matchAll(FIGURE)].map(({ 0: found, index }) => ({
    value: Number(found.replace('%', '')),
    unit: unitIn(plain.slice(Math.max(0, index - UNIT_REACH), index + found.length + UNIT_REACH)),
  }));
}

function unitIn(nearby: string): string | undefined {
  const words = new Set(nearby.toLowerCase().split(NO_WORD));
  return UNITS.find((names) => names.some((name) => words.has(name)))?.[0];
}

/** A whole number that may be meant as a year. */
export const isYear = (value: number): boolean => value >= 1900 && value <= 2100 && Number.isInteger(value);

const UNIT_WORD =
  /(?<![\p{L}\p{N}_])(?:(?:hundred|thousand|million|billion|trillion)s?|percent|percentage)(?![\p{L}\p{N}_])/gu;

/** What an answer says in words besides its numbers and units, such as `march` of `March 1977`. Nothing if it is one letter. */
export function wordsBesideFigures(text: string): string | undefined {
  const bare = inOneLine(text).toLowerCase().replace(FIGURE, '').replaceAll(',', '').replace(UNIT_WORD, '');
  const words = bare.split(NO_WORD).filter(Boolean).join(' ');
  return [...words].length < 2 ? undefined : words;
}

const LIST_ITEM = /^-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?%?$/;

/** The number that a whole text is. */
export function wholeFigure(text: string): number | undefined {
  const item = strip(text);
  if (/\s,|,\s/.test(item)) return undefined;
  const plain = plainAmounts(inOneLine(item));
  return LIST_ITEM.test(plain) ? Number(plain.replace('%', '').replaceAll(',', '')) : undefined;
}
