import { memoize } from './collections.ts';
import { HIDDEN, hex } from './json.ts';

const VARIANTS = /[\ufe00-\ufe0f]/g;

/** To their end: the text after them may have the same signs, and all ways to divide them would be tried. */
const SIGNS = String.raw`[[\]()#;?]*(?![[\]()#;?])`;

/** Escape sequences of a terminal. No part of one can begin another, so that one pass is enough. */
const ESCAPES = new RegExp(
  [
    String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x06\x08-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)`,
    String.raw`[\x1b\x9b]${SIGNS}[-\w/#&.:=?%@~;]*(?:\x07|\x1b\\|\x9c)`,
    String.raw`(?:\x1b\[|\x9b)${SIGNS}[0-?]*(?:[ -/]*[@-~])?`,
    String.raw`\x1b${SIGNS}[\d;]*[\dA-PR-TZcf-ntqry=><~]`,
  ].join('|'),
  'g',
);

/** Foreign text, safe to print. Escape sequences are left out, and a hidden character is shown as `<U+202E>`. */
export const printable = (text: string): string =>
  withoutEscapes(text).replace(HIDDEN, (character) => nameOf(character));

const nameOf = memoize((character: string) => `<U+${hex(character.codePointAt(0)!)}>`, { maxEntries: 1_000 });

/** Most texts have none of it, and are searched once. */
const MAY_HIDE = new RegExp(`[\\r\\x1b\\x80-\\x9f]|${VARIANTS.source}`);

/** Without escape sequences, carriage returns at line ends and variation selectors. */
export function withoutEscapes(text: string): string {
  if (!MAY_HIDE.test(text)) return text;
  return text
    .replace(ESCAPES, '')
    .replace(/\r(?=\n|$)/g, '')
    .replace(VARIANTS, '');
}

export const oneLine = (text: string): string => printable(text.replace(/\s+/g, ' ').trim()).trim();

const TAG =
  /<(?=[!?]|\/?[a-z][\w:-]{0,40}[\s/]|(?:img|image|picture|source|video|audio|iframe|frame|embed|object|link|script|style|svg|base|meta|body|input|template|noscript)\b)/gi;

/** `printable` for Markdown: images and HTML are shown as text, so that nothing is loaded. Links stay links. */
export const inMarkdown = (text: string): string =>
  printable(text)
    .replace(/!(?=\[)/g, '!\\')
    .replace(TAG, '&lt;');

const LONGEST_NAME = 120;

/** A foreign name as data: one line, bounded, as code in Markdown, without what could end the code, a cell or a tag. */
export function nameAsData(text: string): string {
  const name = oneLine(text.slice(0, 4 * LONGEST_NAME)).replace(/[`|<>]/g, (sign) => PLAIN[sign]!);
  const letters = [...name];
  const shown = letters.length > LONGEST_NAME ? `${letters.slice(0, LONGEST_NAME - 1).join('')}…` : name;
  return `\`${shown || '(no name)'}\``;
}

const PLAIN: Readonly<Record<string, string>> = { '`': "'", '|': '¦', '<': '‹', '>': '›' };

/** The beginning and the end, with a note between them. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = Math.floor(length / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half).toWellFormed()}\n[… ${left} characters left out …]\n${text.slice(text.length - half).toWellFormed()}`;
}

/** Whether a person who copies it types the same text: nothing in it is hidden, doubled or lost at an end. */
export const isTypable = (text: string): boolean => oneLine(text) === text;

/** Stands for a text that cannot be typed. No folder has this name, so that a command with it names nothing else. */
const UNTYPABLE = "'(this name cannot be typed safely: rename it)'";

/** One word of a command, and exactly this text. */
export function shellWord(text: string): string {
  if (!isTypable(text)) return UNTYPABLE;
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

type Thrown = Error & {
  readonly errors?: readonly unknown[];
  readonly socket?: { readonly remoteAddress?: string; readonly remotePort?: number } | undefined;
};

/** A chain of causes may be a ring. */
const MOST_CAUSES = 4;

/** What was thrown, with its causes: `fetch failed` alone says neither what was asked nor why it failed. */
export function withCauses(thrown: unknown, most = MOST_CAUSES): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { message, cause, errors = [], socket } = thrown as Thrown;
  const place = socket?.remoteAddress === undefined ? '' : ` (${socket.remoteAddress}:${socket.remotePort})`;
  const causes = most === 0 ? [] : [...errors, ...(cause instanceof Error ? [cause] : [])];
  const reasons = causes.map((one) => withCauses(one, most - 1)).filter((reason) => !message.includes(reason));
  return [...new Set([`${message}${place}`, ...reasons])].filter(Boolean).join(': ');
}
