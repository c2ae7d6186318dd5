import { basename } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { findLine, type KeyPath } from './find-line.ts';

/** Where a setting was said: file and line, or the option; nowhere for a default. And under which name. */
export type Origin = { readonly place?: string; readonly key: string };

export type FindOrigin = (path: KeyPath) => Promise<Origin>;

/** For messages: `x.yaml:3: batchSize`. */
export const nameOf = ({ place, key }: Origin): string =>
  place === undefined ? `${key} (not set, so its default)` : `${place}: ${key}`;

type Said = {
  readonly file: string | undefined;
  /** What the file says. */
  readonly raw: object;
  /** What `--set` says. */
  readonly set: object;
};

/** Where a project file of ours says a setting. */
export function originIn({ file, raw, set }: Said): FindOrigin {
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

/** An error about a setting, with the place where it was said. */
export async function withPlace(error: unknown, path: KeyPath, findOrigin: FindOrigin | undefined): Promise<unknown> {
  if (!(error instanceof SkillError)) return error;
  const { place } = (await findOrigin?.(path)) ?? {};
  if (place === undefined) return error;
  const { code, message, hint } = error;
  return new SkillError(code, `${place}: ${message}`, { cause: error, ...(hint === undefined ? {} : { hint }) });
}
