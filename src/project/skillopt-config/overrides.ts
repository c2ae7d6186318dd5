import { SkillError } from '../../core/contracts/index.ts';
import { suggestion } from '../../core/text/index.ts';
import { findFlat, findRow, KEY_ALIASES, KEY_TABLE } from './key-table.ts';
import { emptyLayer, isOwnKey, isSection, type Layer, mergeLayers, toLayer } from './layer.ts';
import { refuseKey } from './refuse-keys.ts';
import { castText } from './value-aliases.ts';

/** `key=value`, each over the ones before. Keys are `section.key` or a known flat name. */
export function overrideLayer(texts: readonly string[]): Layer {
  return texts.map(readOverride).reduce(mergeLayers, emptyLayer);
}

function readOverride(text: string): Layer {
  const [, name = '', typed = ''] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(text) ?? [];
  if (name === '') throw usage(`--set expects key=value, got ${JSON.stringify(text)}`);
  const value = castText(typed.trim());
  const [section = '', ...rest] = name.split('.');
  const key = rest.join('.');
  refuseKey(name, value);
  if (key === '') return flatOverride(name, value);
  if (!isSection(section) || !isKnown(section, key)) throw unknown(name);
  return toLayer({ [section]: { [key]: value } }, '--set');
}

const isKnown = (section: Parameters<typeof findRow>[0], key: string) =>
  section === 'env' || findRow(section, KEY_ALIASES.get(key) ?? key) !== undefined;

function flatOverride(name: string, value: unknown): Layer {
  if (findFlat(name) === undefined && !isOwnKey(name)) throw unknown(name);
  return toLayer({ [name]: value }, '--set');
}

function unknown(name: string): SkillError {
  const names = KEY_TABLE.flatMap(({ section, key, flat }) => [`${section}.${key}`, flat]);
  return usage(`--set: unknown key ${name}${suggestion(name, names)}`);
}

const usage = (message: string) =>
  new SkillError('USAGE', message, {
    hint: 'For example --set train.batch_size=20 or --set optimizer.lr_scheduler=linear',
  });
