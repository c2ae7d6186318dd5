import { strip } from '../../core/text/index.ts';

/** `reference` scores as SkillOpt does, `official` as the benchmark's own script, and `repaired` reads what both cannot. */
export const RULES = ['reference', 'official', 'repaired'] as const;
export type Rule = (typeof RULES)[number];

/** Cells of one sheet, from 1, with both ends. An end may be infinite. A rectangle may be empty, and then names no cell. */
export type Rectangle = {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
};

/** A part of an answer position. Without cells it cannot be read, for a reason. */
export type AnswerRange = {
  readonly sheet: string;
  readonly cells: Rectangle | undefined;
  readonly text: string;
};

export type Position = {
  readonly position: string;
  readonly sheet?: string | undefined;
  readonly rule: Rule;
  /** The sheets of the right workbook, in order. */
  readonly sheetNames: readonly string[];
};

export function rangesOf(asked: Position): AnswerRange[] {
  if (asked.rule === 'reference') return referenceRanges(asked);
  return asked.rule === 'official' ? officialRanges(asked) : repairedRanges(asked);
}

/** SkillOpt puts the sheet before the whole position, so that it counts for the first of several ranges alone. */
function referenceRanges({ position, sheet, sheetNames }: Position): AnswerRange[] {
  const whole = sheet && position !== '' && !position.includes('!') ? `${sheet}!${position}` : position;
  const parts = whole.split(',').map(strip);
  return parts.filter(Boolean).map((part) => {
    const [name, range] = cutAt(part, part.indexOf('!'));
    const text = trimmed(strip(range), `'"`);
    const cells = parseRange(text, { isLetter: (one) => /\p{L}/u.test(one) });
    return { sheet: name === undefined ? (sheetNames[0] ?? '') : trimmed(strip(name), `'"`), cells, text };
  });
}

/** The benchmark's script knows no other sheet than the one that the position names, and takes each blank for part of a name. */
function officialRanges({ position, sheetNames }: Position): AnswerRange[] {
  return position.split(',').map((part) => {
    const [name, range] = cutAt(part, part.indexOf('!'));
    const text = trimmed(range, "'");
    const cells = range.includes('!') ? undefined : parseRange(text, { isLetter: () => true });
    return { sheet: name === undefined ? (sheetNames[0] ?? '') : trimmed(name, "'"), cells, text };
  });
}

/** The text before and after a mark, if it is there. */
const cutAt = (text: string, at: number): [name: string | undefined, range: string] =>
  at < 0 ? [undefined, text] : [text.slice(0, at), text.slice(at + 1)];

function trimmed(text: string, characters: string): string {
  let [start, end] = [0, text.length];
  while (start < end && characters.includes(text[start]!)) start++;
  while (end > start && characters.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}

type ReadingRule = { readonly isLetter: (character: string) => boolean };

/** A range as both scripts read it: of each end, the letters are the column and the digits the row. `undefined`: they fail. */
export function parseRange(text: string, { isLetter }: ReadingRule): Rectangle | undefined {
  if (!text.includes(':')) return singleCell(text);
  const ends = text.split(':').map((end) => readEnd(end, isLetter));
  const [start, end] = ends;
  if (ends.length !== 2 || start === undefined || end === undefined) return undefined;
  return { left: start.column, top: start.row, right: end.column, bottom: end.row };
}

function singleCell(text: string): Rectangle | undefined {
  const [, letters, digits] = /^\$?([A-Za-z]{1,3})\$?(\d{1,7})$/.exec(text) ?? [];
  if (letters === undefined) return undefined;
  const [column, row] = [columnNumber(letters.toUpperCase()), Number(digits)];
  return { left: column, top: row, right: column, bottom: row };
}

function readEnd(text: string, isLetter: ReadingRule['isLetter']) {
  let [letters, digits] = ['', ''];
  for (const one of text) {
    if (/\d/.test(one)) digits += one;
    else if (isLetter(one)) letters += one;
  }
  return digits === '' ? undefined : { column: columnNumber(letters), row: Number(digits) };
}

/** `A` is 1. Other characters count by their distance from `A`, as the scripts have it: `a1` lies in column AG. */
const columnNumber = (letters: string): number => {
  let number = 0;
  for (const letter of letters) number = number * 26 + letter.codePointAt(0)! - 64;
  return number;
};

export function columnName(column: number): string {
  let [name, rest] = ['', column];
  while (rest > 0) {
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
    rest = Math.floor((rest - 1) / 26);
  }
  return name;
}

/** Sheets may be named in the position, with or without quotes, or in the answer sheet, for each range or for all. */
function repairedRanges({ position, sheet = '', sheetNames }: Position): AnswerRange[] {
  const parts = splitParts(position).map(strip).filter(Boolean);
  const listed = listedSheets(sheet, sheetNames);
  let before: string | undefined;
  return parts.map((part, index) => {
    const [name, range] = cutAt(part, part.lastIndexOf('!'));
    const text = range.replace(QUOTES_AND_BLANKS, '').toUpperCase().replaceAll('：', ':');
    const own = name === undefined ? undefined : findSheet(name, sheetNames);
    const other = (listed.length === parts.length ? listed[index] : listed[0]) ?? before ?? sheetNames[0] ?? '';
    before = own;
    return { sheet: own ?? other, cells: repairedRange(text), text };
  });
}

const QUOTES_AND_BLANKS = /['"$\s]/g;

/** Cuts at commas, but not at those in a quoted name. A closing quote may be missing, or come after the exclamation mark. */
function splitParts(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  while (start <= text.length) {
    let begin = start;
    while (strip(text[begin] ?? 'end') === '') begin++;
    const from = text[begin] === "'" ? endOfName(text, begin) : begin;
    const comma = text.indexOf(',', from);
    parts.push(text.slice(start, comma < 0 ? text.length : comma));
    if (comma < 0) break;
    start = comma + 1;
  }
  return parts;
}

/** The place after the name whose quote opens at `open`. If the quoted text is not a name, nothing is skipped. */
function endOfName(text: string, open: number): number {
  let close = text.indexOf("'", open + 1);
  while (close >= 0 && text[close + 1] === "'") close = text.indexOf("'", close + 2);
  if (close < 0) return open;
  return text[close + 1] === '!' || text[close - 1] === '!' ? close + 1 : open;
}

/** The sheets that an answer sheet names: it may be one name with a comma. */
function listedSheets(sheet: string, sheetNames: readonly string[]): string[] {
  if (strip(sheet) === '') return [];
  const whole = findSheet(sheet, sheetNames);
  return sheetNames.includes(whole) ? [whole] : splitParts(sheet).map((name) => findSheet(name, sheetNames));
}

/** As it is written, without blanks and quotes around it, or with doubled quotes for single ones. */
function findSheet(name: string, sheetNames: readonly string[]): string {
  const bare = trimmed(trimmed(strip(name), `'"!`), `'"`);
  const tried = [name, strip(name), bare, strip(bare), bare.replaceAll("''", "'")];
  return tried.find((one) => sheetNames.includes(one)) ?? strip(bare);
}

/** Also whole columns and rows, a last row without its column (`BD2:308`), and ends in the wrong order. */
function repairedRange(text: string): Rectangle | undefined {
  const found = /^([A-Z]{0,3})(\d{0,7})(?::([A-Z]{0,3})(\d{0,7}))?$/.exec(text);
  if (found === null || text === '' || text.startsWith(':') || text.endsWith(':')) return undefined;
  const [, column = '', row = '', lastColumn = column, lastRow = row] = found;
  if (!text.includes(':') && (column === '' || row === '')) return undefined;
  const columns = ordered(column || lastColumn, lastColumn || column, columnNumber);
  const rows = [row === '' ? 1 : Number(row), lastRow === '' ? Number.POSITIVE_INFINITY : Number(lastRow)];
  const [left, right] = columns ?? [1, Number.POSITIVE_INFINITY];
  return { left, right, top: Math.min(...rows), bottom: Math.max(...rows) };
}

const ordered = (one: string, other: string, toNumber: (text: string) => number): [number, number] | undefined =>
  one === '' ? undefined : [Math.min(toNumber(one), toNumber(other)), Math.max(toNumber(one), toNumber(other))];
