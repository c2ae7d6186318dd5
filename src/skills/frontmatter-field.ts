import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Pair, type YAMLMap } from 'yaml';

/** What stands behind a key. Where YAML reads a number or a boolean, `isText` is false and `text` is what was written. */
type FieldValue =
  | { readonly kind: 'text'; readonly text: string; readonly isText: boolean }
  // Read when asked for: an alias may lead round in a circle.
  | { readonly kind: 'map'; fields(): Field[] }
  | { readonly kind: 'list' | 'broken alias' };

export type Field = { readonly key: string; readonly value: FieldValue; readonly line: number };

type YamlSource = { readonly document: Document; readonly lineAt: (offset: number) => number };

/** The pairs of a map in order of appearance, each with the line of its key. */
export function fieldsOf(map: YAMLMap, source: YamlSource): Field[] {
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
