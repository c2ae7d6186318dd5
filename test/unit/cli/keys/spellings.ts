import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** As `base64` and `xxd -p` print it: in lines of so many letters. */
const inLines = (text: string, width: number) => text.replace(new RegExp(`.{${width}}(?=.)`, 'g'), '$&\n');

/** A key as a server may write it into a reply, an error or a log. */
export const spellingsOf = (key: string): string[] => [
  key,
  JSON.stringify(key).slice(1, -1),
  encodeURIComponent(key),
  encodeURIComponent(key).replace(/%../g, (code) => code.toLowerCase()),
  base64(key),
  base64(`user:${key}`),
  inLines(base64(`${key}\n`), 76),
  inLines(base64(`export KEY=${key}\n`), 76),
  Buffer.from(`Bearer ${key}`).toString('base64url'),
  Buffer.from(key).toString('hex'),
  inLines(Buffer.from(key).toString('hex'), 60),
];

/** The lines that are not too short to be known again, or the one line. */
function linesOf(spelling: string): string[] {
  const lines = spelling.split('\n');
  return lines.length === 1 ? lines : lines.filter((line) => line.length > 40);
}

/** What is left of a key in a text, in any spelling. A key in base64 has other letters at its edges when others are around it. */
export const traces = (text: string, keys: readonly string[]): string[] =>
  keys.flatMap((key) =>
    spellingsOf(key)
      .flatMap(linesOf)
      .map((spelling) => (spelling.length > 24 ? spelling.slice(8, -8) : spelling))
      .filter((spelling) => text.includes(spelling)),
  );

/** The files below a folder that hold a key, except those that a person wrote. */
export function filesWith(folder: string, keys: readonly string[], own: readonly string[] = []): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => !own.includes(path));
  return paths.filter((path) => traces(readFileSync(path, 'latin1'), keys).length > 0);
}
