/** Text by content hash, kept for as long as the run. `set` resolves once the entry would survive the process. */
export interface TextCache {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}

/** The two caches that make a resumed run pay for nothing twice. */
export type RunCaches = { readonly replies: TextCache; readonly rollouts: TextCache };
