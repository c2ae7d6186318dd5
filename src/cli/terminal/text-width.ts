import { printable } from '../../core/text/index.ts';

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const ZERO = /\p{M}/u;

/** Columns that a text takes when it is printed. Colours take none. */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  return [...printable(text)].reduce((sum, char) => sum + charWidth(char), 0);
}

/** Wider than any terminal: what is behind it need not be measured. */
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

/** The same, cut behind a word where there is one in the last half. */
export function clipWords(text: string, width: number): string {
  const cut = clip(text, width);
  if (cut === printable(text)) return cut;
  const next = printable(text)[cut.length - 1];
  const words = cut.slice(0, next === ' ' ? -1 : cut.lastIndexOf(' ')).replace(/[\s,;:]+$/, '');
  return textWidth(words) * 2 < width ? cut : `${words}…`;
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - textWidth(text))) + text;
}

function charWidth(char: string): number {
  if (ZERO.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}
