import { type Document, isMap, parseDocument, type YAMLError } from 'yaml';
import { findRegions } from '../core/document/index.ts';
import { type Finding, lineFinder, type Rule } from './finding.ts';
import { type Field, fieldsOf } from './frontmatter-field.ts';

/** Agents keep the frontmatter of every skill in mind. The limit also keeps deep nesting from exhausting the parser. */
const MAX_CHARACTERS = 16_000;

export type Frontmatter = {
  /** Undefined where they cannot be read; `findings` then says why. */
  readonly fields: readonly Field[] | undefined;
  readonly findings: readonly Finding[];
  /** Where the text after the frontmatter starts: 0 without any. */
  readonly bodyStart: number;
};

/** The fields between the first two `---` lines, each with its line in the text. Nothing is changed or kept. */
export function parseFrontmatter(text: string): Frontmatter {
  const [region] = findRegions(text);
  if (region?.kind !== 'frontmatter') return { ...unreadable('frontmatter-missing', missing(text)), bodyStart: 0 };
  const bodyStart = lineEnd(text, region.end);
  const start = lineEnd(text, 0);
  const source = text.slice(start, region.end - '---'.length);
  const lineAt = lineFinder(text);
  return { ...readYaml(source, (offset) => lineAt(start + offset)), bodyStart };
}

type Reading = Omit<Frontmatter, 'bodyStart'>;

function readYaml(source: string, lineAt: (offset: number) => number): Reading {
  if (source.length > MAX_CHARACTERS) return unreadable('frontmatter-length', tooLong(source));
  // The library is silent: without the level, the parser would print its warnings itself.
  const document: Document = parseDocument(source, { prettyErrors: false, logLevel: 'error' });
  const [error] = document.errors; // one is enough: the others often follow from it
  if (error) return unreadable('frontmatter-yaml', `expected YAML: ${reason(error)}`, lineAt(error.pos[0]));
  if (document.contents === null) return { fields: [], findings: [] };
  if (isMap(document.contents)) return { fields: fieldsOf(document.contents, { document, lineAt }), findings: [] };
  return unreadable('frontmatter-yaml', 'expected fields such as "name: my-skill" in the frontmatter', lineAt(0));
}

function unreadable(rule: Rule, message: string, line = 1): Reading {
  return { fields: undefined, findings: [{ line, level: 'error', rule, message }] };
}

function missing(text: string): string {
  if (text.startsWith('\uFEFF')) return 'expected --- as the first characters, got a byte order mark; save without it';
  if (/^---[ \t]*\r?(?:\n|$)/.test(text)) return 'the frontmatter that begins here is never closed by a line with ---';
  return 'expected frontmatter: a line with ---, the fields name and description, and a line with ---';
}

const tooLong = ({ length }: string) => `expected at most ${MAX_CHARACTERS} characters of frontmatter, got ${length}`;

function reason({ code, message }: YAMLError): string {
  const advice = 'a value with a colon and a space needs quotes';
  return code === 'BLOCK_AS_IMPLICIT_KEY' ? `${message}; ${advice}` : message;
}

/** The offset after the line break that follows, or the end of the text. */
function lineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at === -1 ? text.length : at + 1;
}
