import { oneLine } from './printable.ts';

/** A word of a command that somebody may copy: what comes out of a transcript must stay one word in a shell. */
export function shellWord(text: string): string {
  const word = oneLine(text);
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
