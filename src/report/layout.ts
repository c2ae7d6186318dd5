import pc from 'picocolors';
import { printable } from '../core/text/index.ts';

type Stream = { readonly isTTY?: boolean | undefined };
type Environment = Readonly<Record<string, string | undefined>>;
type Painting = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type Colors = Pick<ReturnType<typeof pc.createColors>, Painting | 'isColorSupported'>;

/** All that these colours are made of. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they begin with
export const COLOR_CODES = /(\x1b\[(?:1|2|22|31|32|33|36|39)m)/;

/** Colours for one stream: on a terminal only, unless NO_COLOR or FORCE_COLOR say otherwise. */
export function colorsFor(stream: Stream, env: Environment): Colors {
  return pc.createColors(isColored(stream, env));
}

export const noColors: Colors = pc.createColors(false);

export function isColored(stream: Stream, env: Environment): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** `850 ms` as `0.9 s`, and from a minute on as `4:05` or `1:04:05`. */
export function duration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const tail = two(seconds % 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${tail}` : `${minutes}:${tail}`;
}

/** How long ago, in the largest unit that fits: `just now`, `5 min ago`, `3 h ago`, `12 days ago`. */
export function ago(at: Date, now: Date): string {
  const minutes = Math.floor((now.getTime() - at.getTime()) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1440)} days ago`;
}

const two = (value: number) => String(value).padStart(2, '0');

/** `1536` as `1.5 kB`. */
export function byteSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const ZERO = /\p{M}/u;

/** Columns that a text takes when it is printed. Colours take none. */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  if (text.length > LONGEST_LINE) return textWidth(text.slice(0, LONGEST_LINE)) + text.length - LONGEST_LINE;
  let width = 0;
  for (const char of printable(text)) width += charWidth(char);
  return width;
}

/** Wider than any terminal: what is beyond it need not be measured. */
const LONGEST_LINE = 10_000;

/** The text in at most `width` columns, with `…` where it was cut. Colours must be added afterwards. */
export function clip(text: string, width: number): string {
  if (text.length > LONGEST_LINE) return clip(text.slice(0, LONGEST_LINE), width);
  const shown = printable(text);
  if (textWidth(shown) <= width) return shown;
  if (width < 1) return '';
  let kept = '';
  let used = 1;
  for (const char of shown) {
    used += charWidth(char);
    if (used > width) break;
    kept += char;
  }
  return `${kept.trimEnd()}…`;
}

/** The same, cut after a word where there is one in the last half. */
export function clipWords(text: string, width: number): string {
  if (text.length > LONGEST_LINE) return clipWords(text.slice(0, LONGEST_LINE), width);
  const cut = clip(text, width);
  if (cut === printable(text)) return cut;
  const next = printable(text)[cut.length - 1];
  const words = cut.slice(0, next === ' ' ? -1 : cut.lastIndexOf(' ')).replace(/(?<![\s,;:])[\s,;:]+$/, '');
  return textWidth(words) * 2 < width ? cut : `${words}…`;
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - textWidth(text))) + text;
}

function charWidth(char: string): number {
  if (char < '\u0300') return 1; // the first mark; wide ones come later
  if (ZERO.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}

/**
 * A sentence in lines of at most `width` columns. A word that is wider stays whole: it may be a path to copy. The indent of
 * further lines leaves half of their width to words.
 */
export function wrap(text: string, width: number, indent = ''): string[] {
  const lead = indent.slice(0, width / 2);
  const leadWidth = textWidth(lead);
  const [first = '', ...words] = text.split(' ');
  const lines = [first];
  let used = textWidth(first);
  for (const word of words) {
    const wordWidth = textWidth(word);
    const fits = used + 1 + wordWidth <= width;
    used = (fits ? used + 1 : leadWidth) + wordWidth;
    if (fits) lines[lines.length - 1] += ` ${word}`;
    else lines.push(lead + word);
  }
  return lines;
}

/** The first of some lines, and one that counts the others. */
export function atMost(most: number, lines: readonly string[], more: (rest: number) => string): string[] {
  const rest = lines.length - most;
  return rest > 0 ? [...lines.slice(0, most), more(rest)] : [...lines];
}

/** `a, b, c and 4 more`. */
export function nameSome(names: readonly string[], most: number): string {
  const rest = names.length - most;
  return `${names.slice(0, most).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** How a text is laid out: the columns to fill, colours, and commands of ours as this person types them. */
export type TextStyle = {
  readonly width: number;
  readonly colors: Colors;
  called(text: string): string;
};

export type LineStyle = Pick<TextStyle, 'width' | 'colors'>;

/** What to type next, and why: on one line, or the reason below it where that is too wide. */
export function nextLines(
  written: readonly (readonly [command: string, why: string])[],
  { width, colors: { bold }, called }: TextStyle,
): string[] {
  const commands = written.map(([command, why]) => [called(command), called(why)] as const);
  const longest = Math.max(...commands.map(([command]) => textWidth(command)));
  const isWide = commands.some(([, why]) => 7 + longest + 2 + textWidth(why) > width);
  return commands.flatMap(([command, why], at) => {
    const lead = at === 0 ? 'next:  ' : '       ';
    if (!isWide) return [`${lead}${bold(command)}${' '.repeat(longest - textWidth(command))}  ${why}`];
    return [lead + bold(command), ...wrap(`         ${why}`, width, '         ')];
  });
}

const ROW = /^( *)(\S(?:.*?\S)?)( {2,})(\S.*)$/s;

/** A text whose rows are `what  why`, none wider than `width`: the reason of a longer one continues in its column, or below. */
export function fitRows(text: string, width: number): string {
  const lines = text.split('\n');
  const isWide = (line: string) => textWidth(line) > width;
  const below = new Set(lines.filter(isWide).map(columnOf)); // Rows of one list look alike.
  return lines
    .flatMap((line) => (isWide(line) || isBelow(line, below, width) ? fitRow(line, width) : [line]))
    .join('\n');
}

/** Where the reason of a row begins; 0 for any other line. */
function columnOf(line: string): number {
  const [, indent = '', what = '', gap = ''] = ROW.exec(line) ?? [];
  return textWidth(indent + what + gap);
}

const isBelow = (line: string, columns: ReadonlySet<number>, width: number) =>
  columnOf(line) > width / 2 && columns.has(columnOf(line));

function fitRow(text: string, width: number): string[] {
  const line = text.replace(/^ +/, (indent) => indent.slice(0, width / 2)); // so that its words have room
  const [, indent = '', what = '', gap = '', why = ''] = ROW.exec(line) ?? [];
  if (what === '') return wrap(line, width, `${/^ */.exec(line)![0]}  `);
  const column = columnOf(line);
  if (column > width / 2) return [...wrap(indent + what, width, `${indent}  `), ...wrapIn(why, width, `${indent}    `)];
  const [first = '', ...more] = wrapIn(why, width, ' '.repeat(column));
  return [indent + what + gap + first.trimStart(), ...more];
}

const wrapIn = (text: string, width: number, indent: string) => wrap(indent + text, width, indent);

export type Column = {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Text that may be cut when the table is too wide. */
  readonly isElastic?: boolean;
  /** Left out when the table is still too wide, the last such column first: better no number than half of one. */
  readonly isOptional?: boolean;
  readonly paint?: (text: string, row: number) => string;
};

type Rows = readonly (readonly string[])[];

const GAP = '  ';
const COMFORTABLE = 12;

/** Aligned lines, a title line first, none wider than `width`. */
export function table(columns: readonly Column[], rows: Rows, { width, colors }: LineStyle): string[] {
  const placed = placeColumns(columns, rows, width);
  const line = (cells: readonly string[], paint: (column: Column, text: string) => string) =>
    placed
      .map(({ column, at, width }) => paint(column, fitCell(column, cells[at] ?? '', width)))
      .join(GAP)
      .trimEnd();
  const titles = columns.map((column) => column.title);
  const head = titles.join('') === '' ? [] : [line(titles, (_, text) => colors.dim(text))];
  return [...head, ...rows.map((row, index) => line(row, (column, text) => column.paint?.(text, index) ?? text))];
}

/** A table of names with figures to their right. */
export function figureTable([name = '', ...figures]: readonly string[], rows: Rows, style: LineStyle): string[] {
  return table([{ title: name, isElastic: true }, ...rightColumns(figures)], rows, style);
}

export const rightColumns = (titles: readonly string[], isOptional = false): Column[] =>
  titles.map((title) => ({ title, align: 'right', isOptional }));

function fitCell(column: Column, text: string, width: number): string {
  const clipped = clip(text, width);
  return column.align === 'right' ? padStart(clipped, width) : padEnd(clipped, width);
}

type Placed = { readonly column: Column; readonly at: number; width: number };

/** What gives way, in order: elastic columns, optional ones, elastic ones again, then everything. */
function placeColumns(columns: readonly Column[], rows: Rows, width: number): Placed[] {
  const tooWide = Math.max(width, COMFORTABLE) + 1;
  const natural = (at: number) =>
    Math.min(tooWide, Math.max(...[columns[at]!.title, ...rows.map((row) => row[at] ?? '')].map(textWidth)));
  let placed = columns.map((column, at): Placed => ({ column, at, width: natural(at) }));
  const elastic = placed.filter(({ column }) => column.isElastic);
  shrink(placed, elastic, width, COMFORTABLE);
  while (totalWidth(placed) > width) {
    const last = placed.findLast(({ column }) => column.isOptional);
    if (!last) break;
    placed = placed.filter((entry) => entry !== last);
  }
  shrink(placed, elastic, width, 4);
  shrink(placed, placed, width, 1);
  return placed;
}

const totalWidth = (placed: readonly Placed[]) =>
  placed.reduce((sum, { width }) => sum + width, GAP.length * (placed.length - 1));

function shrink(placed: readonly Placed[], candidates: readonly Placed[], width: number, smallest: number): void {
  while (totalWidth(placed) > width) {
    const widest = candidates.toSorted((a, b) => b.width - a.width)[0];
    if (!widest || widest.width <= smallest) return;
    widest.width -= 1;
  }
}
