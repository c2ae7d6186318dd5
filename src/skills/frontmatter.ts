import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { findRegions } from '../core/document/index.ts';

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

/** What stands behind a key. Where YAML reads a number or a boolean, `isText` is false and `text` is what was written. */
type FieldValue =
  | { readonly kind: 'text'; readonly text: string; readonly isText: boolean }
  // Read when asked for: an alias may lead round in a circle.
  | { readonly kind: 'map'; fields(): Field[] }
  | { readonly kind: 'list' | 'broken alias' };

export type Field = { readonly key: string; readonly value: FieldValue; readonly line: number };

type YamlSource = { readonly document: Document; readonly lineAt: (offset: number) => number };

/** The pairs of a map in order of appearance, each with the line of its key. */
function fieldsOf(map: YAMLMap, source: YamlSource): Field[] {
  return map.items.map((pair) => toField(pair, source));
}

function toField({ key, value }: Pair, source: YamlSource): Field {
  const name = resolved(key, source);
  return {
    key: isScalar(name) ? String(name.value) : '(not text)',
    value: toValue(resolved(value, source), source),
    line: source.lineAt(offsetOf(key) ?? offsetOf(value) ?? 0),
  };
}

function toValue(node: unknown, source: YamlSource): FieldValue {
  if (node === undefined) return { kind: 'broken alias' };
  if (isSeq(node)) return { kind: 'list' };
  if (isMap(node)) return { kind: 'map', fields: () => fieldsOf(node, source) };
  if (!isScalar(node) || node.value === null) return { kind: 'text', text: '', isText: true };
  const isText = typeof node.value === 'string';
  return { kind: 'text', text: isText ? String(node.value) : (node.source ?? String(node.value)), isText };
}

const resolved = (node: unknown, { document }: YamlSource) => (isAlias(node) ? node.resolve(document) : node);

const offsetOf = (node: unknown) => (isNode(node) ? node.range?.[0] : undefined);

/** What agents are told of a skill before they load it; absent where the frontmatter does not say it. */
type SkillHeader = { readonly name?: string; readonly description?: string };

export function skillHeader(text: string): SkillHeader {
  const { fields = [] } = parseFrontmatter(text);
  const textOf = (key: string) => {
    const value = fields.find((field) => field.key === key)?.value;
    return value?.kind === 'text' && value.text.trim() !== '' ? { [key]: value.text.trim() } : {};
  };
  return { ...textOf('name'), ...textOf('description') };
}

/** Stable names of what is checked, for machines. Messages may change; these do not. */
export type Rule =
  | 'frontmatter-missing'
  | 'frontmatter-length'
  | 'frontmatter-yaml'
  | 'field-missing'
  | 'field-unknown'
  | 'field-length'
  | 'field-not-text'
  | 'field-not-quoted'
  | 'name-characters'
  | 'name-hyphens'
  | 'name-folder'
  | 'metadata-not-map'
  | 'body-empty'
  | 'body-lines'
  | 'body-tokens'
  | 'marker-unpaired'
  | 'marker-nested'
  | 'link-missing';

/** One thing that is wrong with a skill, and where. Lines count from 1. */
export type Finding = {
  readonly line: number;
  /** An error breaks the specification or the trainer; a warning is advice. */
  readonly level: 'error' | 'warning';
  readonly rule: Rule;
  readonly message: string;
};

/** From an offset in the text to its line, counted from 1. */
export function lineFinder(text: string): (offset: number) => number {
  const counter = new LineCounter();
  counter.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) counter.addNewLine(index + 1);
  return (offset) => counter.linePos(offset).line;
}
