import { basename, extname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Node } from 'yaml';
import { SkillError } from '../core/contracts/index.ts';
import { readSmallText } from '../stores/index.ts';
import type { ModelRole, ModelSpec } from './models/provider.ts';

export type KeyPath = readonly PropertyKey[];

/** Where a setting was set and under which name. A default has no place. */
export type Origin = {
  readonly place?: string;
  readonly key: string;
  /** What a person typed for it. */
  readonly typed?: unknown;
};
export type FindOrigin = (path: KeyPath) => Promise<Origin>;

/** For messages: `x.yaml:3: batchSize`. */
export const nameOf = ({ place, key }: Origin): string =>
  place === undefined ? `${key} (not set, so its default)` : `${place}: ${key}`;

type FileSettings = { readonly file: string | undefined; readonly raw: object; readonly set: object };

/** Finds settings in a project file of ours and in `--set`. */
export function originIn({ file, raw, set }: FileSettings): FindOrigin {
  return async (path) => {
    const [key = ''] = path;
    if (key in set) return { place: '--set', key: path.join('.'), typed: (set as Record<PropertyKey, unknown>)[key] };
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

type Models = Readonly<Partial<Record<ModelRole, ModelSpec | undefined>>>;

/** Whether a person typed the model of a role, or at least its address. */
export async function isTyped(
  role: ModelRole,
  { project, findOrigin }: { readonly project: Models; readonly findOrigin: FindOrigin },
): Promise<boolean> {
  const spec = project[role];
  const { typed } = await findOrigin([role]);
  if (typed !== undefined && isDeepStrictEqual(typed, spec)) return true;
  const address = typeof spec === 'object' ? spec.baseURL : undefined;
  return address !== undefined && (await findOrigin([`${role}.baseURL`])).typed === address;
}

/** The line of the first of these keys that is in a file. Programs have no such lines. */
export async function findLine(file: string, paths: readonly KeyPath[]): Promise<number | undefined> {
  if (!['.yaml', '.yml', '.json'].includes(extname(file).toLowerCase())) return undefined;
  const { isMap, isScalar, LineCounter, parseDocument } = await import('yaml');
  const offsetOf = (node: unknown, [key, ...rest]: KeyPath): number | undefined => {
    if (!isMap(node)) return undefined;
    const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
    return rest.length > 0 ? offsetOf(pair?.value, rest) : (pair?.key as Node | undefined)?.range?.[0];
  };
  const text = await readSmallText(file).catch(() => '');
  const lineCounter = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter, logLevel: 'silent' }); // JSON is YAML too
  const offsets = paths.map((path) => offsetOf(contents, path)).filter((offset) => offset !== undefined);
  return offsets[0] === undefined ? undefined : lineCounter.linePos(offsets[0]).line;
}
