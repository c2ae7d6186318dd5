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
