import { basename, dirname, resolve } from 'node:path';
import { configShape, SkillError } from '../../core/contracts/index.ts';
import { isObject, suggestion } from '../../core/text/index.ts';
import { readConfigFile } from '../config-file.ts';
import { type FindOrigin, findLine, type KeyPath, placeIn } from '../origin.ts';
import { projectKeys } from '../project.ts';
import { refuseNamedSecret, refuseNamedSecrets } from '../secrets.ts';
import { findFlat, findRow, KEY_ALIASES, KEY_TABLE, type KeyRow, SECTIONS, type Section } from './key-table.ts';
import { castText, isBlank, type Values } from './read-value.ts';

export type Layer = {
  readonly sections: Readonly<Record<Section, Values>>;
  /** Keys of ours at the top level, as they are. */
  readonly own: Values;
};

const emptyLayer: Layer = {
  sections: { model: {}, train: {}, gradient: {}, optimizer: {}, evaluation: {}, env: {} },
  own: {},
};

type ReadLayers = { readonly layer: Layer; readonly files: readonly string[] };

/** A file overrides its `_base_`, which overrides its own base, and so on. The files are in this order. */
export async function readLayers(file: string, raw: Values, above: readonly string[] = []): Promise<ReadLayers> {
  const chain = [...above, file];
  await refuseNamedSecrets(raw, file, VARIABLES);
  const layer = toLayer(raw, basename(file));
  if (isBlank(raw._base_)) return { layer, files: [file] };
  const base = await basePath(file, raw._base_);
  if (chain.includes(base)) {
    const names = [...chain, base].map((path) => basename(path)).join(' → ');
    throw invalid(`_base_ goes in a circle: ${names}`, 'Remove the _base_ from one of these files.');
  }
  const rawBase = await readConfigFile(base, { isSkillOpt: true }).catch((cause: unknown) => {
    if (!(cause instanceof SkillError)) throw cause;
    const hint = 'The path starts at the folder of the file that names it.';
    throw invalid(`the _base_ of ${basename(file)}: ${cause.message}`, hint, cause);
  });
  const below = await readLayers(base, rawBase, chain);
  return { layer: mergeLayers(below.layer, layer), files: [file, ...below.files] };
}

const VARIABLES = new Map(KEY_TABLE.flatMap(({ key, variable }) => (variable === undefined ? [] : [[key, variable]])));

async function basePath(file: string, base: unknown): Promise<string> {
  if (typeof base === 'string') return resolve(dirname(file), base);
  const where = await placeIn(file, [['_base_']]);
  const hint = 'For example _base_: ../_base_/default.yaml. The path starts at the folder of the file.';
  throw invalid(`${where}: _base_ must be one path, got ${JSON.stringify(base)}`, hint);
}

const invalid = (message: string, hint: string, cause?: unknown) =>
  new SkillError('CONFIG_INVALID', message, { hint, cause });

/** `key=value` of the command line. Later ones take precedence. Keys are `section.key` or a known flat name. */
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

/** Flat names move into their sections, whose own values take precedence. */
function toLayer(raw: Values, source: string): Layer {
  const entries = Object.entries(raw).filter(([name]) => name !== '_base_');
  const isSectionEntry = ([name, value]: [string, unknown]) => isSectionValue(name, value);
  const sectionsLast = [...entries.filter((entry) => !isSectionEntry(entry)), ...entries.filter(isSectionEntry)];
  const parts = sectionsLast.map(([name, value]) => layerPart(name, value, source));
  const { sections, own } = parts.reduce(mergeMaps, emptyLayer) as Layer;
  return { own, sections: { ...sections, model: withoutAliases(sections.model) } };
}

/** The layer of one top-level key. An unknown key belongs to the environment, as in SkillOpt. */
function layerPart(name: string, value: unknown, source: string): Values {
  if (isSectionValue(name, value)) return { sections: { [name]: value } };
  const isOptimizer = name === 'optimizer' && (typeof value === 'string' || isObject(value));
  if (isOptimizer || (!isSection(name) && isOwnKey(name))) return { own: { [name]: value } };
  if (isSection(name) && (value === null || value === undefined)) return {};
  if (isSection(name) && !(name === 'env' && typeof value === 'string')) {
    const hint = `For example "${name}:" on a line of its own, and its keys indented below.`;
    throw invalid(`${source}: ${name} must be a section with keys, got ${JSON.stringify(value)}`, hint);
  }
  const { section, key } = findFlat(name) ?? { section: 'env', key: name };
  return { sections: { [section]: { [KEY_ALIASES.has(name) ? name : key]: value } } };
}

function withoutAliases(model: Values): Values {
  const renamed = Object.entries(model).map(([key, value]) => [KEY_ALIASES.get(key) ?? key, value]);
  const canonical = Object.entries(model).filter(([key]) => !KEY_ALIASES.has(key));
  return Object.fromEntries([...renamed, ...canonical]) as Values;
}

export const mergeLayers = (base: Layer, child: Layer): Layer => mergeMaps(base, child) as Layer;

/** Maps are merged key by key. Any other value of `child` replaces that of `base`. */
function mergeMaps(base: Values, child: Values): Values {
  const merged = Object.entries(child).map(([key, value]) => {
    const below = Object.hasOwn(base, key) ? base[key] : undefined;
    return [key, isObject(below) && isObject(value) ? mergeMaps(below, value) : value];
  });
  return { ...base, ...(Object.fromEntries(merged) as Values) };
}

const OWN_KEYS = new Set(Object.keys({ ...configShape, ...projectKeys }));

/** A key of ours that SkillOpt does not have. SkillOpt has no keys with a capital letter. */
export const isOwnKey = (name: string): boolean => /[A-Z]/.test(name) || (OWN_KEYS.has(name) && !findFlat(name));

const isSection = (name: string): name is Section => (SECTIONS as readonly string[]).includes(name);

/** `optimizer` is a section in SkillOpt and a model here. Only a model has the key `provider`. */
export const isSectionValue = (name: string, value: unknown): boolean =>
  isSection(name) && isObject(value) && !(name === 'optimizer' && 'provider' in value);

/** Finds a key of ours, or `section.key` of theirs, on the command line, then in the file and its bases. */
export function skillOptOrigin(files: readonly string[], set: Layer): FindOrigin {
  return async (path) => {
    const rows = rowsNamed(path);
    const typed = rows.find(({ section, key }) => key in set.sections[section]);
    if (typed) return { place: '--set', key: nameIn(typed), typed: set.sections[typed.section][typed.key] };
    const own = path.join('.');
    if (String(path[0]) in set.own) return { place: '--set', key: own, typed: set.own[String(path[0])] };
    const theirs = rows.map((row) => ({ key: nameIn(row), paths: [[row.section, row.key], [row.flat]] }));
    for (const file of files) {
      for (const { key, paths } of [...theirs, { key: own, paths: [path, path.slice(0, 1)] }]) {
        const line = await findLine(file, paths);
        if (line !== undefined) return { place: `${basename(file)}:${line}`, key };
      }
    }
    return { key: own };
  };
}

export const nameIn = ({ section, key }: KeyRow) => `${section}.${key}`;

function rowsNamed([first, second]: KeyPath): KeyRow[] {
  const theirs = KEY_TABLE.filter((row) => row.section === first && row.key === second);
  return theirs.length > 0 ? theirs : KEY_TABLE.filter((row) => (row.to ?? '').split(', ').includes(String(first)));
}
