import fc from 'fast-check';

/** Pieces that retitle a window, clear a screen, turn the writing direction, hide, or forge a line. */
const PIECES = [
  '\x1b[2J',
  '\x1b[31m',
  '\x1b[8m',
  '\x1b]0;title\x07',
  '\x1b]8;;http://a.b\x1b\\link\x1b]8;;\x1b\\',
  '\x1b[',
  '\x1b',
  '\x9b2J',
  '\x9d0;t\x9c',
  '\x1bP1;2|',
  '\x07',
  '\x08',
  '\x7f',
  '\0',
  '\r',
  '\r\n',
  '\u2028',
  '\u202e',
  '\u2066',
  '\u061c',
  '\u200b',
  '\u200d',
  '\ufeff',
  '\u00ad',
  '\u3164',
  '\ufe0f',
  '\u{e0041}',
  '\u{e0101}',
  '\ud800',
  '\ufff9',
  'plain',
  '日本',
  'é',
  '\n',
  '\t',
] as const;

export const hostileText = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join(''));

/** All pieces in one text of one line. */
export const EVERY_PIECE = PIECES.join('').replaceAll('\n', '');

/** Moves of the cursor that the live block makes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they begin with
const LIVE = /\x1b\[(?:\?25[lh]|\d+F|J)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they begin with
const COLOURS = /\x1b\[(?:1|2|22|31|32|33|36|39)m/g;
const FORBIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** The characters in a printed text that should not be there. */
export function leftovers(printed: string, { isColored }: { readonly isColored: boolean }): readonly string[] {
  const text = isColored ? printed.replace(COLOURS, '') : printed;
  const found = text.replace(LIVE, '').match(FORBIDDEN) ?? [];
  return found.map((character) => `U+${character.codePointAt(0)!.toString(16)}`);
}
