import { frontmatterEnd } from './protected-regions.ts';

type Found = {
  /** Where its field begins and ends in the document, with all lines of the value. */
  readonly start: number;
  readonly end: number;
  /** As a reader of YAML has it, on one line. */
  readonly value: string;
};

/** The field and the lines that belong to it: what is indented or empty below it. */
const FIELD = /(?<=^|\n)description:([^\n]*(?:\n(?:[ \t][^\n]*|(?=\n)))*)/;

/** The description in the frontmatter of a skill; nothing where there is none. */
export function findDescription(skill: string): Found | undefined {
  const found = FIELD.exec(skill.slice(0, frontmatterEnd(skill)));
  if (!found) return undefined;
  const start = found.index;
  return { start, end: start + found[0].trimEnd().length, value: decode(found[1]!.trim()) };
}

const onOneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

function decode(written: string): string {
  if (/^[|>]/.test(written)) return onOneLine(written.replace(/^[^\n]*/, ''));
  if (written.startsWith("'")) return onOneLine(written.replace(/^'|'(?:\s+#.*)?$/g, '').replaceAll("''", "'"));
  if (written.startsWith('"')) return onOneLine(fromQuotes(written));
  return onOneLine(written.replace(/(?:^|\s)#[^\n]*/g, ''));
}

function fromQuotes(written: string): string {
  const quoted = /^"(?:[^"\\]|\\.)*"/s.exec(written)?.[0] ?? '""';
  try {
    return String(JSON.parse(quoted.replace(/\\?\s*\n\s*/g, ' ')));
  } catch {
    return quoted.slice(1, -1); // an escape that YAML knows and JSON does not
  }
}

/** The same document with another description. All else in it stays byte for byte. */
export function withDescription(skill: string, { start, end }: Found, value: string): string {
  return `${skill.slice(0, start)}description: ${encode(onOneLine(value))}${skill.slice(end)}`;
}

/** Words that YAML reads as they stand. All else is quoted. */
const PLAIN = /^[A-Za-z](?:[^\s:#]| (?!#)|:(?! |$)|#)*$/;
const WORDS = /^(?:true|false|null|yes|no|on|off)$/i;

const encode = (value: string) => (PLAIN.test(value) && !WORDS.test(value) ? value : JSON.stringify(value));
