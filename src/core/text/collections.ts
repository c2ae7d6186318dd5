/** A pure function that keeps its answers. Beyond `maxEntries` the oldest is dropped. */
export function memoize<Key, Value>(
  find: (key: Key) => Value,
  { maxEntries = Number.POSITIVE_INFINITY } = {},
): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    if (known.has(key)) return known.get(key) as Value;
    if (known.size >= maxEntries) known.clear(); // a Map whose oldest key is deleted again and again is slow
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

type Defined<Values> = { [Key in keyof Values as undefined extends Values[Key] ? never : Key]: Values[Key] } & {
  [Key in keyof Values as undefined extends Values[Key] ? Key : never]?: Exclude<Values[Key], undefined>;
};

/** Without the keys whose values are `undefined`: spread over others they would take their place. */
export const defined = <Values extends object>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<Values>;

/** Groups in order of first appearance, each in the order of `items`. (`Map.groupBy` needs Node 21.) */
export function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Item[][] {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
}

/** The places in groups: two that have a key in common are in one group, also by way of others. */
export function joined(keys: readonly (readonly string[])[]): number[][] {
  const parents = keys.map((_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while (parents[root] !== root) root = parents[root] = parents[parents[root]!]!;
    return root;
  };
  const firsts = new Map<string, number>();
  for (const [index, own] of keys.entries()) {
    for (const key of own) {
      const first = firsts.get(key);
      if (first === undefined) firsts.set(key, index);
      else parents[rootOf(index)] = rootOf(first);
    }
  }
  return groupBy([...keys.keys()], rootOf);
}
