import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { RunCaches, TextCache } from '../core/cache.ts';
import { type CacheDatabase, type CacheEntry, type CacheName, openCacheDatabase } from './cache-database.ts';

type OpenCaches = RunCaches & {
  /** Waits for what is being set. Afterwards nothing can be read or set. */
  close(): Promise<void>;
};

/** The caches of a run, in `cache/cache.db` below `directory`. Safe to delete between runs; that only costs money. */
export async function openCaches(directory: string): Promise<OpenCaches> {
  const folder = join(directory, 'cache');
  await mkdir(folder, { recursive: true });
  const database = await openCacheDatabase(join(folder, 'cache.db'));
  const writer = groupWriter(database);
  const textCache = (cache: CacheName): TextCache => ({
    get: async (key) => database.get(cache, key) ?? writer.pending(cache, key),
    set: (key, value) => writer.set({ cache, key, value }),
  });
  return {
    replies: textCache('replies'),
    rollouts: textCache('rollouts'),
    async close() {
      await writer.settled();
      database.close();
    },
  };
}

/**
 * Commits together what is set in one turn of the event loop. Replies arrive in bursts, and a commit costs several times
 * what its entries do: one by one they would keep the loop from the next replies.
 */
function groupWriter(database: CacheDatabase) {
  let entries = new Map<string, CacheEntry>();
  let committed: Promise<void> | undefined;
  const nameOf = ({ cache, key }: Omit<CacheEntry, 'value'>) => `${cache} ${key}`;
  const commit = () => {
    const batch = [...entries.values()];
    entries = new Map();
    committed = undefined;
    database.setAll(batch);
  };
  return {
    pending: (cache: CacheName, key: string) => entries.get(nameOf({ cache, key }))?.value,
    set(entry: CacheEntry): Promise<void> {
      if (!entries.has(nameOf(entry))) entries.set(nameOf(entry), entry);
      committed ??= setImmediate().then(commit);
      return committed;
    },
    settled: async () => committed?.catch(() => undefined),
  };
}
