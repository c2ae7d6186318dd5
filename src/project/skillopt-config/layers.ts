import { basename, dirname, resolve } from 'node:path';
import { configShape, SkillError } from '../../core/contracts/index.ts';
import { suggestion } from '../../core/text/index.ts';
import { readConfigFile } from '../config-file.ts';
import { placeIn } from '../origin.ts';
import { projectKeys } from '../project.ts';
import { refuseNamedSecret, refuseNamedSecrets } from '../secrets.ts';
import { findFlat, findRow, KEY_ALIASES, KEY_TABLE, SECTIONS, type Section } from './key-table.ts';
import { castText, isBlank, type Values } from './read-value.ts';

/** One file, or the command line, in one spelling. */
export type Layer = {
  readonly sections: Readonly<Record<Section, Values>>;
  /** Keys of ours at the top level, as they are. */
  readonly own: Values;
};

const emptyLayer: Layer = {
  sections: { model: {}, train: {}, gradient: {}, optimizer: {}, evaluation: {}, env: {} },
  own: {},
};

/** What the files say together, and which they are, the one that was named first. */
type Layers = { readonly layer: Layer; readonly files: readonly string[] };

/** A file over its `_base_`, over the base of that, and so on. */
export async function readLayers(file: string, raw: Values, above: readonly string[] = []): Promise<Layers> {
  const chain = [...above, file];
  await refuseNamedSecrets(raw, file, VARIABLES);
  const layer = toLayer(raw, basename(file));
  if (isBlank(raw._base_)) return { layer, files: [file] };
  const base = await basePath(file, raw._base_);
  if (chain.includes(base)) throw circle([...chain, base]);
  const rawBase = await readConfigFile(base, { isSkillOpt: true }).catch((error: unknown) => {
    throw badBase(file, error);
  });
  const below = await readLayers(base, rawBase, chain);
  return { layer: mergeLayers(below.layer, layer), files: [file, ...below.files] };
}

/** Where each secret belongs, by its key. */
const VARIABLES = new Map(KEY_TABLE.flatMap(({ key, variable }) => (variable === undefined ? [] : [[key, variable]])));

async function basePath(file: string, base: unknown): Promise<string> {
  if (typeof base === 'string') return resolve(dirname(file), base);
  const where = await placeIn(file, [['_base_']]);
  throw new SkillError('CONFIG_INVALID', `${where}: _base_ must be one path, got ${JSON.stringify(base)}`, {
    hint: 'For example _base_: ../_base_/default.yaml. The path starts at the folder of the file.',
  });
}

function circle(chain: readonly string[]): SkillError {
  const names = chain.map((path) => basename(path)).join(' → ');
  return new SkillError('CONFIG_INVALID', `_base_ goes in a circle: ${names}`, {
    hint: 'Remove the _base_ from one of these files.',
  });
}

function badBase(file: string, cause: unknown): unknown {
  if (!(cause instanceof SkillError)) return cause;
  return new SkillError('CONFIG_INVALID', `the _base_ of ${basename(file)}: ${cause.message}`, {
    cause,
    hint: 'The path starts at the folder of the file that names it.',
  });
}

/** `key=value` of the command line, each over the ones before. Keys are `section.key` or a known flat name. */
export function overrideLayer(overrides: readonly string[]): Layer {
  return overrides.map(readOverride).reduce(mergeLayers, emptyLayer);
}

function readOverride(text: string): Layer {
  const [, name = '', typed = ''] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(text) ?? [];
  if (name === '') throw badOverride(`--set expects key=value, got ${JSON.stringify(text)}`);
  const value = castText(typed.trim());
  refuseNamedSecret(name, value, VARIABLES);
  const [section = '', ...rest] = name.split('.');
  const key = rest.join('.');
  if (key === '' ? findFlat(name) === undefined && !isOwnKey(name) : !isKnown(section, key)) {
    const names = KEY_TABLE.flatMap((row) => [`${row.section}.${row.key}`, row.flat]);
    throw badOverride(`--set: unknown key ${name}${suggestion(name, names)}`);
  }
  return toLayer(key === '' ? { [name]: value } : { [section]: { [key]: value } }, '--set');
}

const isKnown = (section: string, key: string) =>
  section === 'env' || (isSection(section) && findRow(section, KEY_ALIASES.get(key) ?? key) !== undefined);

const badOverride = (message: string) =>
  new SkillError('USAGE', message, {
    hint: 'For example --set train.batch_size=20 or --set optimizer.lr_scheduler=linear',
  });

/** Flat names move into their sections, where a value that is there already wins. */
function toLayer(raw: Values, source: string): Layer {
  const entries = Object.entries(raw).filter(([name]) => name !== '_base_');
  const isWhole = ([name, value]: [string, unknown]) => isSectionValue(name, value);
  const parts = [...entries.filter((entry) => !isWhole(entry)), ...entries.filter(isWhole)].map(([name, value]) =>
    layerPart(name, value, source),
  );
  const { sections, own } = parts.reduce(mergeMaps, emptyLayer) as Layer;
  return { own, sections: { ...sections, model: withoutAliases(sections.model) } };
}

/** What one top-level key says. An unknown key belongs to the environment, as in SkillOpt. */
function layerPart(name: string, value: unknown, source: string): Values {
  if (isSectionValue(name, value)) return { sections: { [name]: value } };
  const isOptimizer = name === 'optimizer' && (typeof value === 'string' || isMap(value));
  if (isOptimizer || (!isSection(name) && isOwnKey(name))) return { own: { [name]: value } };
  if (isSection(name) && (value === null || value === undefined)) return {};
  if (isSection(name) && !(name === 'env' && typeof value === 'string')) throw notAMap(name, value, source);
  const { section, key } = findFlat(name) ?? { section: 'env', key: name };
  return { sections: { [section]: { [KEY_ALIASES.has(name) ? name : key]: value } } };
}

const notAMap = (name: string, value: unknown, source: string) =>
  new SkillError('CONFIG_INVALID', `${source}: ${name} must be a section with keys, got ${JSON.stringify(value)}`, {
    hint: `For example "${name}:" on a line of its own, and its keys indented below.`,
  });

function withoutAliases(model: Values): Values {
  const renamed = Object.entries(model).map(([key, value]) => [KEY_ALIASES.get(key) ?? key, value]);
  const canonical = Object.entries(model).filter(([key]) => !KEY_ALIASES.has(key));
  return Object.fromEntries([...renamed, ...canonical]) as Values;
}

/** Maps are merged key by key; anything else in `child` replaces what is in `base`. */
export const mergeLayers = (base: Layer, child: Layer): Layer => mergeMaps(base, child) as Layer;

function mergeMaps(base: Values, child: Values): Values {
  const merged = Object.entries(child).map(([key, value]) => {
    const below = Object.hasOwn(base, key) ? base[key] : undefined;
    return [key, isMap(below) && isMap(value) ? mergeMaps(below, value) : value];
  });
  return { ...base, ...(Object.fromEntries(merged) as Values) };
}

/** Whether a file is a SkillOpt config: it has a `_base_`, a section, or flat names and no key of ours. */
export function isSkillOptConfig(raw: Values): boolean {
  const names = Object.keys(raw);
  if ('_base_' in raw || names.some((name) => isSectionValue(name, raw[name]))) return true;
  // `seed`, `workers` and `env` are keys of both.
  return names.some((name) => name.includes('_') && findFlat(name) !== undefined) && !names.some(isOwnKey);
}

const OWN_KEYS = new Set(Object.keys({ ...configShape, ...projectKeys }));

/** Ours and not also one of SkillOpt's. A key with a capital letter is ours: SkillOpt has none. */
const isOwnKey = (name: string): boolean => /[A-Z]/.test(name) || (OWN_KEYS.has(name) && !findFlat(name));

const isSection = (name: string): name is Section => (SECTIONS as readonly string[]).includes(name);

/** `optimizer` is a section in SkillOpt and a model here. The key `provider` tells which. */
const isSectionValue = (name: string, value: unknown): boolean =>
  isSection(name) && isMap(value) && !(name === 'optimizer' && 'provider' in value);

export const isMap = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
