import { stripVTControlCharacters } from 'node:util';

/** Control characters but tab and newline, marks that turn the writing direction, and all that has no shape of its own. */
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** They choose between two shapes of the character before them, mostly an emoji. */
const VARIANTS = /[\ufe00-\ufe0f]/g;

/**
 * Text from a model, a file or a server, safe to print: nothing in it can move the cursor, retitle the window, turn the
 * writing round or hide. Escape sequences are left out; a hidden character is shown as `<U+202E>`, so that two names that
 * look alike can be told apart.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r(?=\n|$)/g, '')
    .replace(VARIANTS, '')
    .replace(HIDDEN, (character) => `<U+${hex(character.codePointAt(0)!)}>`);
}

/** The same on one line. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim()).trim();
}

/** A value as JSON, with the same characters escaped: it reads back as it was. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(HIDDEN, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at))}`).join(''),
  );
}

const hex = (code: number) => code.toString(16).toUpperCase().padStart(4, '0');
