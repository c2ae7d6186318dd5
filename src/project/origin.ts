import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { Node } from 'yaml';
import { SkillError } from '../core/contracts/index.ts';

export type KeyPath = readonly PropertyKey[];

/** Where a setting was set: file and line, or the option; no place for a default. And under which name. */
export type Origin = { readonly place?: string; readonly key: string };

export type FindOrigin = (path: KeyPath) => Promise<Origin>;

/** For messages: `x.yaml:3: batchSize`. */
export const nameOf = ({ place, key }: Origin): string =>
  place === undefined ? `${key} (not set, so its default)` : `${place}: ${key}`;

type FileSettings = {
  readonly file: string | undefined;
  /** The keys of the file. */
  readonly raw: object;
  /** The keys of `--set`. */
  readonly set: object;
};

/** Finds settings in a project file of ours and in `--set`. */
export function originIn({ file, raw, set }: FileSettings): FindOrigin {
  return async (path) => {
    const [key = ''] = path;
    if (key in set) return { place: '--set', key: path.join('.') };
    if (file === undefined || !(key in raw)) return { key: path.join('.') };
    const prefixes = path.map((_, index) => path.slice(0, path.length - index));
    return { place: await placeIn(file, prefixes), key: path.join('.') };
  };
}

/** `x.yaml:3`, or the file alone where the line is not known. */
export async function placeIn(file: string, paths: readonly KeyPath[]): Promise<string> {
  const line = await findLine(file, paths);
  return line === undefined ? basename(file) : `${basename(file)}:${line}`;
}

/** An error about a setting, with the place where it was set. */
export async function withPlace(error: unknown, path: KeyPath, findOrigin: FindOrigin | undefined): Promise<unknown> {
  if (!(error instanceof SkillError)) return error;
  const { place } = (await findOrigin?.(path)) ?? {};
  if (place === undefined) return error;
  const { code, message, hint } = error;
  return new SkillError(code, `${place}: ${message}`, { cause: error, ...(hint === undefined ? {} : { hint }) });
}

/** The line of the first of these keys that a file has. A file that is a program has no such lines. */
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
