import { type JsonObject, objectOf } from './json.ts';

/**
 * A state that is written as a log of changes: 0 the whole state, 1 set a value, 2 cut a list at `i` and append to it,
 * 3 remove. A change whose path is not there is ignored, as is one before the first state.
 */
export function operationLog() {
  let state: unknown;
  return {
    take({ kind, k: path, v: value, i: index }: JsonObject): void {
      if (kind === 0) state = value;
      else if (Array.isArray(path) && path.length > 0) change(state, path, { kind, value, index });
    },
    state: () => objectOf(state),
  };
}

type Change = { readonly kind: unknown; readonly value: unknown; readonly index: unknown };
type Key = string | number;
type Holder = Record<Key, unknown>;

function change(state: unknown, path: readonly unknown[], { kind, value, index }: Change): void {
  const holder = path.slice(0, -1).reduce(childOf, state);
  const key = path.at(-1);
  if (kind === 2) append(childOf(holder, key), value, index);
  else if (isHolder(holder) && isKey(key) && canHold(holder, key)) {
    if (kind === 1) holder[key] = value;
    if (kind === 3 && !Array.isArray(holder)) delete holder[key];
  }
}

/** Only what the state itself holds: a path through a prototype would reach every object of this process. */
const childOf = (holder: unknown, key: unknown): unknown =>
  isHolder(holder) && isKey(key) && Object.hasOwn(holder, key) ? holder[key] : undefined;

/** In a list only what is there, or the place after it: an index in the millions would fill the memory. */
function canHold(holder: Holder, key: Key): boolean {
  if (!Array.isArray(holder)) return key !== '__proto__';
  return Number.isInteger(key) && Number(key) >= 0 && Number(key) <= holder.length;
}

const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null;
const isKey = (key: unknown): key is Key => typeof key === 'string' || typeof key === 'number';

function append(list: unknown, items: unknown, index: unknown): void {
  if (!Array.isArray(list)) return;
  if (index !== undefined) {
    if (!Number.isInteger(index) || Number(index) < 0 || Number(index) > list.length) return;
    list.length = Number(index);
  }
  if (Array.isArray(items)) for (const item of items) list.push(item);
}
