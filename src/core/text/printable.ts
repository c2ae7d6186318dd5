import { HIDDEN, hex } from './json.ts';

/** They choose between two shapes of the character before them, mostly an emoji. */
const VARIANTS = /[\ufe00-\ufe0f]/g;

/**
 * What a terminal obeys and does not show: commands with a text that is ended (titles, links), control sequences, and escapes
 * of one character. No part of one can begin another, so that a text is looked at once.
 */
const ESCAPES = new RegExp(
  [
    String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x06\x08-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)`,
    String.raw`[\x1b\x9b][[\]()#;?]*[-\w/#&.:=?%@~;]*(?:\x07|\x1b\\|\x9c)`,
    String.raw`(?:\x1b\[|\x9b)[[\]()#;?]*[0-?]*(?:[ -/]*[@-~])?`,
    String.raw`\x1b[[\]()#;?]*[\d;]*[\dA-PR-TZcf-ntqry=><~]`,
  ].join('|'),
  'g',
);

/**
 * Text from a model, a file or a server, safe to print: nothing in it can move the cursor, retitle the window, turn the
 * writing round or hide. Escape sequences are left out; a hidden character is shown as `<U+202E>`, so that two names that
 * look alike can be told apart.
 */
export function printable(text: string): string {
  return withoutEscapes(text).replace(HIDDEN, (character) => `<U+${hex(character.codePointAt(0)!)}>`);
}

/** What any of them begins with: most texts have none, and are looked at once. */
const MAY_HIDE = new RegExp(`[\\r\\x1b\\x80-\\x9f]|${VARIANTS.source}`);

/** Without what `printable` leaves out and does not show: of the rest, a person who reads it sees every character. */
export function withoutEscapes(text: string): string {
  if (!MAY_HIDE.test(text)) return text;
  return text
    .replace(ESCAPES, '')
    .replace(/\r(?=\n|$)/g, '')
    .replace(VARIANTS, '');
}

/** The same on one line. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim()).trim();
}

/** A tag that may load or hide something: one with attributes, one that is named here, a comment. */
const TAG =
  /<(?=[!?]|\/?[a-z][\w:-]{0,40}[\s/]|(?:img|image|picture|source|video|audio|iframe|frame|embed|object|link|script|style|svg|base|meta|body|input|template|noscript)\b)/gi;

/**
 * The same for a Markdown file that somebody opens: images and HTML are shown as they are written, and nothing is loaded from
 * anywhere. Links stay links: they load nothing until they are followed.
 */
export function inMarkdown(text: string): string {
  return printable(text)
    .replace(/!(?=\[)/g, '!\\')
    .replace(TAG, '&lt;');
}

/** Longer than any name that a person would read. */
const LONGEST_NAME = 120;

/**
 * A name out of somebody's text (a folder, a branch, a file, a tool, a skill) as data: one line, bounded, as code in Markdown,
 * without what could end the code, a cell or a tag.
 */
export function nameAsData(text: string): string {
  const name = oneLine(text.slice(0, 4 * LONGEST_NAME)).replace(/[`|<>]/g, (sign) => PLAIN[sign]!);
  const letters = [...name];
  const shown = letters.length > LONGEST_NAME ? `${letters.slice(0, LONGEST_NAME - 1).join('')}…` : name;
  return `\`${shown || '(no name)'}\``;
}

const PLAIN: Readonly<Record<string, string>> = { '`': "'", '|': '¦', '<': '‹', '>': '›' };

/** Head and tail with a note between them: the start says what was asked, the end how it went. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = Math.floor(length / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half).toWellFormed()}\n[… ${left} characters left out …]\n${text.slice(text.length - half).toWellFormed()}`;
}

/** A word of a command that somebody may copy: what comes out of a transcript must stay one word in a shell. */
export function shellWord(text: string): string {
  const word = oneLine(text);
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
