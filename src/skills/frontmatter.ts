import { createRequire } from 'node:module';
import type { Document, YAMLError, YAMLMap } from 'yaml';
import { findRegions } from '../core/document/index.ts';
import { memoize } from '../core/text/index.ts';

/** Loaded with the first frontmatter that is read: training a body reads none, and this takes 50 ms and 9 MB. */
const load = memoize((name: 'yaml'): typeof import('yaml') => createRequire(import.meta.url)(name));

/** Agents hold the frontmatter of every skill in their context. Deep nesting could also exhaust the parser. */
const MAX_CHARACTERS = 16_000;

type Frontmatter = {
  /** Undefined if they cannot be read: `findings` then has the reason. */
  readonly fields: readonly Field[] | undefined;
  readonly findings: readonly Finding[];
  readonly bodyStart: number;
};

/** The fields between the first two `---` lines, each with its line in the text. */
export function parseFrontmatter(text: string): Frontmatter {
  const [region] = findRegions(text);
  if (region?.kind !== 'frontmatter') return { ...unreadable('frontmatter-missing', missing(text)), bodyStart: 0 };
  const bodyStart = lineEnd(text, region.end);
  const start = lineEnd(text, 0);
  const source = text.slice(start, region.end - '---'.length);
  const lineAt = lineFinder(text);
  return { ...readYaml(source, (offset) => lineAt(start + offset)), bodyStart };
}

type ReadFields = Omit<Frontmatter, 'bodyStart'>;

function readYaml(source: string, lineAt: (offset: number) => number): ReadFields {
  const { length } = source;
  if (length > MAX_CHARACTERS) {
    const expected = `expected at most ${MAX_CHARACTERS} characters of frontmatter`;
    return unreadable('frontmatter-length', `${expected}, got ${length}`);
  }
  // Without the level, the parser would print its warnings.
  const { isMap, parseDocument } = load('yaml');
  const document: Document = parseDocument(source, { prettyErrors: false, logLevel: 'error' });
  const [error] = document.errors; // the others often follow from the first
  if (error) return unreadable('frontmatter-yaml', `expected YAML: ${reason(error)}`, lineAt(error.pos[0]));
  if (document.contents === null) return { fields: [], findings: [] };
  if (isMap(document.contents)) return { fields: fieldsOf(document.contents, { document, lineAt }), findings: [] };
  return unreadable('frontmatter-yaml', 'expected fields such as "name: my-skill" in the frontmatter', lineAt(0));
}

function unreadable(rule: Rule, message: string, line = 1): ReadFields {
  return { fields: undefined, findings: [{ line, level: 'error', rule, message }] };
}

function missing(text: string): string {
  if (text.startsWith('\uFEFF')) return 'expected --- as the first characters, got a byte order mark; save without it';
  if (/^---[ \t]*\r?(?:\n|$)/.test(text)) return 'the frontmatter that begins here is never closed by a line with ---';
  return 'expected frontmatter: a line with ---, the fields name and description, and a line with ---';
}

function reason({ code, message }: YAMLError): string {
  const advice = 'a value with a colon and a space needs quotes';
  return code === 'BLOCK_AS_IMPLICIT_KEY' ? `${message}; ${advice}` : message;
}

function lineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at === -1 ? text.length : at + 1;
}

/** `isText` is false for a number or a boolean of YAML. `text` is then as it was written. */
type FieldValue =
  | { readonly kind: 'text'; readonly text: string; readonly isText: boolean }
  // Read when needed: an alias may lead in a circle.
  | { readonly kind: 'map'; fields(): Field[] }
  | { readonly kind: 'list' | 'broken alias' };

export type Field = { readonly key: string; readonly value: FieldValue; readonly line: number };

type YamlSource = { readonly document: Document; readonly lineAt: (offset: number) => number };

function fieldsOf(map: YAMLMap, source: YamlSource): Field[] {
  const { isScalar } = load('yaml');
  return map.items.map(({ key, value }) => {
    const name = resolved(key, source);
    return {
      key: isScalar(name) ? String(name.value) : '(not text)',
      value: toValue(resolved(value, source), source),
      line: source.lineAt(offsetOf(key) ?? offsetOf(value) ?? 0),
    };
  });
}

function toValue(node: unknown, source: YamlSource): FieldValue {
  const { isMap, isScalar, isSeq } = load('yaml');
  if (node === undefined) return { kind: 'broken alias' };
  if (isSeq(node)) return { kind: 'list' };
  if (isMap(node)) return { kind: 'map', fields: () => fieldsOf(node, source) };
  if (!isScalar(node) || node.value === null) return { kind: 'text', text: '', isText: true };
  const isText = typeof node.value === 'string';
  return { kind: 'text', text: isText ? String(node.value) : (node.source ?? String(node.value)), isText };
}

const resolved = (node: unknown, { document }: YamlSource) =>
  load('yaml').isAlias(node) ? node.resolve(document) : node;

const offsetOf = (node: unknown) => (load('yaml').isNode(node) ? node.range?.[0] : undefined);

/** What agents read of a skill before they load it. */
export function skillHeader(text: string): { readonly name?: string; readonly description?: string } {
  const { fields = [] } = parseFrontmatter(text);
  const textOf = (key: string) => {
    const value = fields.find((field) => field.key === key)?.value;
    return value?.kind === 'text' && value.text.trim() !== '' ? { [key]: value.text.trim() } : {};
  };
  return { ...textOf('name'), ...textOf('description') };
}

/** Stable names for machines. Messages may change. */
export type Rule =
  | `frontmatter-${'missing' | 'length' | 'yaml'}`
  | `field-${'missing' | 'unknown' | 'length' | 'not-text' | 'not-quoted'}`
  | `name-${'characters' | 'hyphens' | 'folder' | 'device'}`
  | 'metadata-not-map'
  | `body-${'empty' | 'lines' | 'tokens'}`
  | `marker-${'unpaired' | 'nested'}`
  | 'link-missing';

/** A problem of a skill. Lines count from 1. */
export type Finding = {
  readonly line: number;
  /** An error breaks the specification or the trainer. A warning is advice. */
  readonly level: 'error' | 'warning';
  readonly rule: Rule;
  readonly message: string;
};

/** Lines count from 1. */
export function lineFinder(text: string): (offset: number) => number {
  const breaks = [...text.matchAll(/\n/g)].map(({ index }) => index);
  return (offset) => {
    let [low, high] = [0, breaks.length]; // halved: a text may have as many lines as questions about them
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (breaks[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
