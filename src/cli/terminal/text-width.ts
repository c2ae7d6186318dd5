import { stripVTControlCharacters } from 'node:util';

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const ZERO = /\p{M}|\p{Cf}/u;

/** Columns that a text takes in a terminal. Colours take none. */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  return [...stripVTControlCharacters(text)].reduce((sum, char) => sum + charWidth(char), 0);
}

/** Wider than any terminal: what is behind it need not be measured. */
const LONGEST_LINE = 10_000;

/** The text in at most `width` columns, with `…` where it was cut. Colours must be added afterwards. */
export function clip(text: string, width: number): string {
  if (text.length > LONGEST_LINE) return clip(text.slice(0, LONGEST_LINE), width);
  if (textWidth(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let used = 1;
  for (const char of text) {
    used += charWidth(char);
    if (used > width) break;
    kept += char;
  }
  return `${kept.trimEnd()}…`;
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - textWidth(text))) + text;
}

/**
 * Text from a model or a file, safe to print: no escape sequences, no control characters but tab and newline.
 * A skill document must not be able to move the cursor or retitle the window.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/[^\P{Cc}\t\n]/gu, '');
}

/** The same on one line. */
export function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

function charWidth(char: string): number {
  if (ZERO.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}
