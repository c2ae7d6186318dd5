import { roundHalfToEven, strip } from '../../core/text/index.ts';

/** What a cell holds: a date with a time of day as a serial number, a time of day as text, a duration in microseconds. */
export type CellValue =
  | number
  | string
  | boolean
  | { readonly date: number }
  | { readonly time: string }
  | { readonly duration: number };

/** `undefined` is an empty cell. Numbers are rounded; anything of another kind differs. */
type Comparable = number | string | undefined | { readonly duration: number };

/** SpreadsheetBench's rule: numbers and numeric texts to two decimals, dates to whole days, other texts exactly, no text like no value. */
export function isSameValue(gold: CellValue | undefined, got: CellValue | undefined): boolean {
  const [one, other] = [comparable(gold), comparable(got)];
  if (typeof one === 'object' && typeof other === 'object') return one.duration === other.duration;
  return (one === '' ? undefined : one) === (other === '' ? undefined : other);
}

function comparable(value: CellValue | undefined): Comparable {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number') return roundToHundredths(value);
  if (typeof value === 'string') return comparableText(value);
  if (value === undefined || 'duration' in value) return value;
  // The rule takes three characters off: the seconds, or half of the microseconds.
  return 'time' in value ? value.time.slice(0, -3) : roundHalfToEven(value.date);
}

function comparableText(text: string): number | string {
  const number = pythonFloat(text);
  return number === undefined ? text : roundToHundredths(number);
}

const FULL_WIDTH = /[０-９]/g;
const NUMBER = /^[+-]?(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:e[+-]?\d[\d_]*)?$/i;
const STRAY_UNDERSCORE = /_(?!\d)|(?<!\d)_/;
/** Nobody has a longer number in a cell. */
const LONGEST = 1_000;

/** What Python's `float()` reads in a text; `undefined` where it refuses. */
function pythonFloat(text: string): number | undefined {
  if (text.length > LONGEST) return undefined;
  const bare = strip(text).replace(FULL_WIDTH, (digit) => String.fromCharCode(digit.charCodeAt(0) - 0xfee0));
  if (NUMBER.test(bare)) return STRAY_UNDERSCORE.test(bare) ? undefined : Number(bare.replaceAll('_', ''));
  const word = /^([+-]?)(inf|infinity|nan)$/i.exec(bare);
  if (word === null) return undefined;
  if (word[2]!.toLowerCase() === 'nan') return Number.NaN;
  return word[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Python's `round(value, 2)`: by the exact binary value, and halves to the even neighbour. */
function roundToHundredths(value: number): number {
  const eighths = value * 8;
  // Of binary fractions, only odd eighths lie in the middle between two hundredths.
  if (!Number.isInteger(eighths) || Math.abs(eighths % 2) !== 1) return Number(value.toFixed(2));
  const doubled = BigInt(eighths) * 25n; // hundredths, times two
  const below = (doubled - (doubled < 0n ? -1n : 1n)) / 2n;
  const even = below % 2n === 0n ? below : below + (doubled < 0n ? -1n : 1n);
  return Number(`${even}e-2`);
}

/** How a number is shown by its format: as a day, a time of day, a duration, or just as a number. */
export type NumberKind = 'number' | 'date' | 'duration';

/** Excel allows 255 characters. */
const LONGEST_FORMAT = 1_000;

/** Judged as openpyxl does: a letter of a date in the first part, not right after a backslash, quotes and conditions left out. */
export function kindOfFormat(format: string | number | undefined): NumberKind {
  if (typeof format !== 'string') return 'number';
  const [first = ''] = format.slice(0, LONGEST_FORMAT).split(';');
  const bare = first.replace(/"[^"\n]*"|\[(?!(?:hh?|mm?|ss?)\])[^\]]*\]/g, '');
  if (!/[^\\][dmhys]/i.test(bare)) return 'number';
  return /\[(?:hh?|mm?|ss?)\]/i.test(first) ? 'duration' : 'date';
}

const DAY_MS = 86_400_000;
/** Days from 30 December 1899, where serial numbers begin, to 1 January 1904, where they begin in some files. */
const DAYS_TO_1904 = 1462;
/** Python's dates are those of the years 1 to 9999. */
const [FIRST_DAY, LAST_DAY] = [-693_593, 2_958_466];

/** A serial number as what its format shows. */
export function serialValue(
  serial: number,
  kind: Exclude<NumberKind, 'number'>,
  { from1904 }: { readonly from1904: boolean },
): CellValue {
  if (!Number.isFinite(serial)) return '#VALUE!';
  if (kind === 'duration') return { duration: toMilliseconds(roundHalfToEven(serial * DAY_MS * 1000)) };
  const day = Math.floor(serial);
  const ms = roundHalfToEven((serial - day) * DAY_MS);
  if (day === 0 && ms < DAY_MS) return { time: timeText(ms) };
  // The first of these days is one too early: Excel has a 29 February 1900.
  const early = !from1904 && serial > 0 && serial < 60 ? 1 : 0;
  const whole = day + early + (from1904 ? DAYS_TO_1904 : 0) + Math.floor(ms / DAY_MS);
  if (whole < FIRST_DAY || whole >= LAST_DAY) return '#VALUE!';
  return { date: whole + Math.floor((ms % DAY_MS) / 1000) / 86_400 };
}

function toMilliseconds(microseconds: number): number {
  const part = ((microseconds % 1_000_000) + 1_000_000) % 1_000_000;
  return microseconds - part + roundHalfToEven(part / 1000) * 1000;
}

function timeText(ms: number): string {
  const [hours, minutes, seconds] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  );
  const rest = ms % 1000;
  return `${hours}:${minutes}:${seconds}${rest === 0 ? '' : `.${String(rest).padStart(3, '0')}000`}`;
}

/** For people: `12`, `"abc"`, `nothing`. */
export function shownValue(value: CellValue | undefined): string {
  if (value === undefined || value === '') return 'nothing';
  if (typeof value !== 'object') return JSON.stringify(typeof value === 'string' ? value.slice(0, 80) : value);
  if ('duration' in value) return `a duration of ${value.duration / 1e6} s`;
  if ('time' in value) return `the time ${value.time}`;
  const shown = new Date(Math.round((value.date - 25_569) * DAY_MS));
  return `the date ${shown.toISOString().replace('T00:00:00.000Z', '').replace('.000Z', '').replace('T', ' ')}`;
}
