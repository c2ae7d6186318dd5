import { basename, dirname, resolve } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { readConfigFile } from '../config-file.ts';
import { placeIn } from '../origin.ts';
import { isBlank } from './key-row.ts';
import { type Layer, mergeLayers, toLayer, type Values } from './layer.ts';
import { refuseKeys } from './refuse-keys.ts';

type Source = { readonly file: string; readonly raw: Values };

/** What the files say together, and which they are, the one that was named first. */
export type Layers = { readonly layer: Layer; readonly files: readonly string[] };

/** A file over its `_base_`, over the base of that, and so on. */
export async function readLayers({ file, raw }: Source, above: readonly string[] = []): Promise<Layers> {
  const chain = [...above, file];
  await refuseKeys(raw, file);
  const layer = toLayer(raw, basename(file));
  if (isBlank(raw._base_)) return { layer, files: [file] };
  const base = await basePath(file, raw._base_);
  if (chain.includes(base)) throw cycle([...chain, base]);
  const below = await readConfigFile(base, { isSkillOpt: true }).catch((error: unknown) =>
    Promise.reject(badBase(file, error)),
  );
  const { layer: under, files } = await readLayers({ file: base, raw: below }, chain);
  return { layer: mergeLayers(under, layer), files: [file, ...files] };
}

async function basePath(file: string, base: unknown): Promise<string> {
  if (typeof base === 'string') return resolve(dirname(file), base);
  const where = await placeIn(file, [['_base_']]);
  throw new SkillError('CONFIG_INVALID', `${where}: _base_ must be one path, got ${JSON.stringify(base)}`, {
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
