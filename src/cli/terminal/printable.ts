import { stripVTControlCharacters } from 'node:util';
import { HIDDEN, hex } from '../../core/text/json-text.ts';

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
