import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Node } from 'yaml';

export type KeyPath = readonly PropertyKey[];

/** The line in which a file says the first of these keys that it has. Files that are programs have no such lines. */
export async function findLine(file: string, paths: readonly KeyPath[]): Promise<number | undefined> {
  if (!['.yaml', '.yml', '.json'].includes(extname(file).toLowerCase())) return undefined;
  const [yaml, text] = await Promise.all([import('yaml'), readFile(file, 'utf8').catch(() => '')]);
  const lineCounter = new yaml.LineCounter();
  const { contents } = yaml.parseDocument(text, { lineCounter, logLevel: 'silent' }); // JSON is YAML too
  const offsets = paths.map((path) => offsetOf(contents, path, yaml)).filter((offset) => offset !== undefined);
  return offsets[0] === undefined ? undefined : lineCounter.linePos(offsets[0]).line;
}

function offsetOf(node: unknown, [key, ...rest]: KeyPath, yaml: typeof import('yaml')): number | undefined {
  if (!yaml.isMap(node)) return undefined;
  const pair = node.items.find((item) => yaml.isScalar(item.key) && String(item.key.value) === String(key));
  return rest.length > 0 ? offsetOf(pair?.value, rest, yaml) : (pair?.key as Node | undefined)?.range?.[0];
}
