/** A setting of an earlier version. */
type RemovedKey = {
  /** The value under which that version did what this one does anyway. A file may keep it, and a run made with it resumes. */
  readonly withoutEffect: unknown;
  readonly why: string;
};

const REMOVED_KEYS: Readonly<Record<string, RemovedKey>> = {
  finalists: {
    withoutEffect: 1,
    why: 'was removed, since comparing former best skills at the end lost gain at equal cost; leave it out',
  },
};

export const isWithoutEffect = (key: string, value: unknown): boolean =>
  Object.hasOwn(REMOVED_KEYS, key) && REMOVED_KEYS[key]!.withoutEffect === value;

/** The removed keys that an input still asks something of, with what to tell the user. */
export function removedKeysIn(input: unknown): { readonly key: string; readonly why: string }[] {
  return Object.entries(input ?? {})
    .filter(([key, value]) => Object.hasOwn(REMOVED_KEYS, key) && value !== undefined && !isWithoutEffect(key, value))
    .map(([key, value]) => ({ key, why: `${REMOVED_KEYS[key]!.why}, got ${JSON.stringify(value)}` }));
}
