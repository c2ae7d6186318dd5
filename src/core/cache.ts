/** Text by content hash, kept for as long as the run. `set` resolves once the entry would survive the process. */
export interface TextCache {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}

/** Replies, which are paid for: so that each is counted once, however often a run is cut off. */
export interface ReplyCache extends TextCache {
  /** `onSafe` is called in the moment from which `mark` includes the entry, and also when the key had a value before. */
  set(key: string, value: string, onSafe?: () => void): Promise<void>;
  /** A number for all entries that are safe now. */
  mark?(): number;
  /** The values that became safe after a mark was taken, in order. */
  since?(mark: number): string[];
}

/** The two caches that make a resumed run pay for nothing twice. */
export type RunCaches = { readonly replies: ReplyCache; readonly rollouts: TextCache };
