import { findFlat } from './key-table.ts';
import { isOwnKey, isSectionValue, type Values } from './layer.ts';

/** Whether a file speaks SkillOpt's language: a `_base_`, a section, or flat names and no key of ours. */
export function isSkillOptConfig(raw: Values): boolean {
  const entries = Object.entries(raw);
  if ('_base_' in raw || entries.some(([name, value]) => isSectionValue(name, value))) return true;
  const names = Object.keys(raw);
  return names.some(isTheirsAlone) && !names.some(isOwnKey);
}

/** `seed`, `workers` and `env` are in both languages, and tell nothing. */
const isTheirsAlone = (name: string) => findFlat(name) !== undefined && name.includes('_');
