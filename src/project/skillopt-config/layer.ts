import { configShape, SkillError } from '../../core/contracts/index.ts';
import { projectKeys } from '../project.ts';
import { SECTIONS, type Section } from './key-row.ts';
import { findFlat, KEY_ALIASES } from './key-table.ts';

export type Values = Readonly<Record<string, unknown>>;

/** One file, or the command line, in one spelling. */
export type Layer = {
  readonly sections: Readonly<Record<Section, Values>>;
  /** Keys of ours at the top level, as they are. */
  readonly own: Values;
};

const ownKeys = new Set(Object.keys({ ...configShape, ...projectKeys }));

export const isSection = (name: string): name is Section => (SECTIONS as readonly string[]).includes(name);

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Ours and not also one of SkillOpt's. A capital letter is ours: there are none over there. */
export const isOwnKey = (name: string): boolean => /[A-Z]/.test(name) || (ownKeys.has(name) && !findFlat(name));

/** `optimizer` is a section over there and a model here; `provider` tells. */
const isSectionValue = (name: string, value: unknown): boolean =>
  isSection(name) && isMap(value) && !(name === 'optimizer' && 'provider' in value);

export const emptyLayer: Layer = {
  sections: { model: {}, train: {}, gradient: {}, optimizer: {}, evaluation: {}, env: {} },
  own: {},
};

/** Flat names move into their sections, where a value that is there already wins. */
export function toLayer(raw: Values, source: string): Layer {
  const entries = Object.entries(raw).filter(([name]) => name !== '_base_');
  const of = (kind: Kind) => entries.filter(([name, value]) => kindOf(name, value) === kind);
  const { sections } = [
    ...of('flat').map(([name, value]) => flatLayer(name, value, source)),
    ...of('section').map(([name, value]) => sectionLayer(name, value as Values)),
  ].reduce(mergeLayers, emptyLayer);
  return { sections: { ...sections, model: withoutAliases(sections.model) }, own: Object.fromEntries(of('own')) };
}

type Kind = 'section' | 'own' | 'flat';

function kindOf(name: string, value: unknown): Kind {
  if (isSectionValue(name, value)) return 'section';
  if (name === 'optimizer' && (typeof value === 'string' || isMap(value))) return 'own';
  return !isSection(name) && isOwnKey(name) ? 'own' : 'flat';
}

const sectionLayer = (name: string, values: Values): Layer => ({
  ...emptyLayer,
  sections: { ...emptyLayer.sections, [name]: values },
});

/** What nobody knows is an environment's own key, as it is over there. */
function flatLayer(name: string, value: unknown, source: string): Layer {
  if (isSection(name) && (value === null || value === undefined)) return emptyLayer;
  if (isSection(name) && !(name === 'env' && typeof value === 'string')) throw notAMap(name, value, source);
  const { section, key } = findFlat(name) ?? { section: 'env' as const, key: name };
  return sectionLayer(section, { [KEY_ALIASES.has(name) ? name : key]: value });
}

function withoutAliases(model: Values): Values {
  const renamed = Object.entries(model).map(([key, value]) => [KEY_ALIASES.get(key) ?? key, value]);
  const canonical = Object.entries(model).filter(([key]) => !KEY_ALIASES.has(key));
  return Object.fromEntries([...renamed, ...canonical]) as Values;
}

const notAMap = (name: string, value: unknown, source: string) =>
  new SkillError('CONFIG_INVALID', `${source}: ${name} must be a section with keys, got ${JSON.stringify(value)}`, {
    hint: `For example "${name}:" on a line of its own, and its keys indented below.`,
  });

/** Maps are merged key by key; anything else in `child` replaces what is in `base`. */
export function mergeLayers(base: Layer, child: Layer): Layer {
  return mergeMaps(base, child) as Layer;
}

function mergeMaps(base: Values, child: Values): Values {
  const merged = Object.entries(child).map(([key, value]) => {
    const below = Object.hasOwn(base, key) ? base[key] : undefined;
    return [key, isMap(below) && isMap(value) ? mergeMaps(below, value) : value];
  });
  return { ...base, ...(Object.fromEntries(merged) as Values) };
}

/** Whether a file speaks SkillOpt's language: a `_base_`, a section, or flat names and no key of ours. */
export function isSkillOptConfig(raw: Values): boolean {
  const entries = Object.entries(raw);
  if ('_base_' in raw || entries.some(([name, value]) => isSectionValue(name, value))) return true;
  const names = Object.keys(raw);
  return names.some(isTheirsAlone) && !names.some(isOwnKey);
}

/** `seed`, `workers` and `env` are in both languages, and tell nothing. */
const isTheirsAlone = (name: string) => findFlat(name) !== undefined && name.includes('_');
