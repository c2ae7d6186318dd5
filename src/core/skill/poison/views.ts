import { decodeBlobs, fromEntities, fromEscapes, rot13, unleet, unspaced } from './decode.ts';

/** The same text as somebody else might read it. `isDecoded`: it was written to be read otherwise. */
export type View = { readonly text: string; readonly isDecoded: boolean };

/** The text in small letters without disguise, then what it may turn into once decoded. Each different from all before. */
export function viewsOf(text: string): View[] {
  const plain = plainOf(text);
  const seen = new Set([plain]);
  const latin = plain.replace(/[^\n\x20-\x7e]+/g, ' '); // two of the ciphers are of Latin letters, and cost time
  const decoded = [
    fromEntities(plain),
    fromEscapes(plain),
    ...decodeBlobs(text).map(plainOf),
    plainOf(unspaced(text)),
    unleet(plain),
    rot13(latin),
    latin.split('').reverse().join(''),
    unslugged(plain),
    joined(plain),
  ].filter((view) => view.trim() !== '' && !seen.has(view) && seen.add(view));
  return [{ text: plain, isDecoded: false }, ...decoded.map((view) => ({ text: view, isDecoded: true }))];
}

/** One spelling for quotes, dashes and spaces; no emphasis; a line that ends with a backslash is one with the next. */
function plainOf(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[\u2018\u2019\u02bc\u2032]/g, "'")
    .replace(/[\u201c\u201d\u201e]/g, '"')
    .replace(/[\u2010-\u2012]/g, '-')
    .replace(/\r\n?/g, '\n')
    .replace(/\\\n/g, ' ')
    .replace(/\*\*|__(?=\s|$)|(?<=^|\s)__|~~/g, '')
    .replace(/[^\S\n]+/g, ' ')
    .toLowerCase();
}

/** A name of several words is read as a sentence: `ignore-all-rules.md`. */
const unslugged = (text: string) =>
  text.replace(/[a-z]{2,30}(?:[-_][a-z]{1,30}){2,20}/g, (name) => name.replace(/[-_]/g, ' '));

/** Words that were cut by quotes, signs or a plus, and sentences that go on in the next item of a list. */
function joined(text: string): string {
  return text
    .replace(/["'`] ?\+ ?["'`]/g, '')
    .replace(/(?<=\w)(?:""|''|\\)(?=\w)/g, '')
    .replace(/(?<![.!?:;)`"\n])\n{1,2}[ \t]{0,20}(?:(?:[-*+>]|\d{1,3}[.)]) )?/g, ' ');
}

const CODE = /(?<=^|\n) {0,3}(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n[\s\S]*?(?:\n {0,3}\1|$)|`[^`\n]{1,400}`/g;

/** Blanks in the place of code, so that what is left has its place. */
export const withoutCode = (text: string) => text.replace(CODE, (code) => ' '.repeat(code.length));
