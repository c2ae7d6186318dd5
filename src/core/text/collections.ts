/** A pure function that keeps its answers. Beyond `maxEntries` the oldest is dropped. */
export function memoize<Key, Value>(
  find: (key: Key) => Value,
  { maxEntries = Number.POSITIVE_INFINITY } = {},
): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    if (known.has(key)) return known.get(key) as Value;
    if (known.size >= maxEntries) known.delete(known.keys().next().value as Key);
    const value = find(key);
    known.set(key, value);
    return value;
  };
}

/** `memoize` for objects. A forgotten object is not kept alive by its answer. */
export function memoizeWeakly<Key extends object, Value>(find: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Value>();
  return (key) => {
    const value = known.get(key) ?? find(key);
    known.set(key, value);
    return value;
  };
}

/** Groups in order of first appearance, each in the order of `items`. (`Map.groupBy` needs Node 21.) */
export function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Item[][] {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups.values()];
}

/** The fields that have a value, for objects in which a missing field is absent. */
export const defined = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Fields]?: Exclude<Fields[Key], undefined>;
  };
