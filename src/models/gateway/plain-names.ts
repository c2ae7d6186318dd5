/** Of all spellings: some servers read names in camel case as well as with underscores, and some in any case. */
export const plainName = (name: string): string => {
  const small = name.toLowerCase();
  return small.includes('_') || small.includes('-') ? small.replaceAll(/[_-]/g, '') : small;
};

// biome-ignore lint/suspicious/noExplicitAny: values of a body, which are read field by field
type Value = any;

/** By any spelling of a name. */
export const valuesOf = (object: Value, name: string): Value[] =>
  Object.entries<Value>(object).flatMap(([key, value]) => (plainName(key) === name ? [value] : []));
