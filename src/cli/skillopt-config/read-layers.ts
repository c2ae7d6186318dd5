import { basename, dirname, resolve } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import { readConfigFile } from '../project/config-file.ts';
import { type Layer, mergeLayers, toLayer, type Values } from './layer.ts';
import { refuseKeys } from './refuse-keys.ts';

type Source = { readonly file: string; readonly raw: Values };

/** A file over its `_base_`, over the base of that, and so on. */
export async function readLayers({ file, raw }: Source, above: readonly string[] = []): Promise<Layer> {
  const chain = [...above, file];
  refuseKeys(raw, basename(file));
  const layer = toLayer(raw, basename(file));
  if (raw._base_ === undefined || raw._base_ === null) return layer;
  const base = basePath(file, raw._base_);
  if (chain.includes(base)) throw cycle([...chain, base]);
  const below = await readConfigFile(base).catch((error: unknown) => Promise.reject(badBase(file, error)));
  return mergeLayers(await readLayers({ file: base, raw: below }, chain), layer);
}

function basePath(file: string, base: unknown): string {
  if (typeof base === 'string' && base !== '') return resolve(dirname(file), base);
  throw new SkillError('CONFIG_INVALID', `${basename(file)}: _base_ must be one path, got ${JSON.stringify(base)}`, {
    hint: 'For example _base_: ../_base_/default.yaml, read from the folder of the file.',
  });
}

function cycle(chain: readonly string[]): SkillError {
  const names = chain.map((path) => basename(path)).join(' → ');
  return new SkillError('CONFIG_INVALID', `_base_ goes in a circle: ${names}`, {
    hint: 'Take the _base_ out of one of these files.',
  });
}

function badBase(file: string, cause: unknown): unknown {
  if (!(cause instanceof SkillError)) return cause;
  return new SkillError('CONFIG_INVALID', `the _base_ of ${basename(file)}: ${cause.message}`, {
    cause,
    hint: 'The path is read from the folder of the file that names it.',
  });
}
