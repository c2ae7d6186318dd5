import { basename, extname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';
import { isInside } from '../agents/index.ts';
import { isObject } from '../core/text/index.ts';
import { PLUGIN } from './hosts.ts';
import { parseJsonc } from './jsonc.ts';

/** Keys of settings in which agents keep plugins; the other keys are the person's. */
const CONTAINERS = new Set(['enabledPlugins', 'extraKnownMarketplaces', 'marketplaces', 'plugins']);
/** What an agent counts or signs for itself. */
const OF_LISTS = new Set(['version', 'signature']);
const OF_SETTINGS = new Set(['$version']);

type Restoring = {
  readonly path: string;
  readonly now: Buffer;
  /** Null where the file is to go. */
  readonly old: Buffer | null;
  readonly pluginsFolder: string;
};

/** Whether `now` and `old` differ in nothing but our plugin, and `old` does not hold it. */
export function differInOwnKeysOnly({ path, now, old, pluginsFolder }: Restoring): boolean {
  const isOwn = (name: string) => name === PLUGIN || name === `${PLUGIN}@${PLUGIN}` || isInside(name, pluginsFolder);
  try {
    const left = old === null ? {} : without(path, readData(path, old), () => false);
    return isDeepStrictEqual(without(path, readData(path, now), isOwn), left);
  } catch {
    return false; // what cannot be read is not replaced
  }
}

function readData(path: string, bytes: Buffer): Record<string, unknown> {
  const text = bytes.toString('utf8');
  const data = extname(path) === '.toml' ? parse(text) : parseJsonc(text);
  if (isObject(data)) return data;
  throw new TypeError(`expected an object in ${path}`);
}

type IsOwn = (name: string) => boolean;

/** Without own members of containers, and without containers that are empty then. */
function without(path: string, data: Record<string, unknown>, isOwn: IsOwn): Record<string, unknown> {
  const isSettings = /^(?:settings\.json|config\.toml)$|^opencode\.|^config\.json$/.test(basename(path));
  const ignored = isSettings ? OF_SETTINGS : OF_LISTS;
  const members = Object.entries(data).flatMap(([name, value]) => {
    if (ignored.has(name) || (!isSettings && isOwn(name))) return [];
    if (!isObject(value) || (isSettings && !CONTAINERS.has(name))) return [[name, value] as const];
    const others = Object.entries(value).filter(([key]) => !isOwn(key));
    return others.length === 0 ? [] : [[name, Object.fromEntries(others)] as const];
  });
  return Object.fromEntries(members);
}
