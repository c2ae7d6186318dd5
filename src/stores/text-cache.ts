import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { RunCaches, TextCache } from '../core/cache.ts';
import { type CacheDatabase, type CacheEntry, type CacheName, openCacheDatabase } from './cache-database.ts';

type OpenCaches = RunCaches & {
  /** What is being set is safe first. Afterwards nothing can be set. */
  close(): void;
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
    close() {
      writer.flush();
      database.close();
    },
  };
}

/**
 * Commits together what is set in one turn of the event loop. Replies arrive in bursts, and a commit costs several times
 * what its entries do: one by one they would keep the loop from the next replies.
 */
function groupWriter(database: CacheDatabase) {
  const entries = new Map<string, CacheEntry>();
  let committed: Promise<void> | undefined;
  const nameOf = ({ cache, key }: Omit<CacheEntry, 'value'>) => `${cache} ${key}`;
  const flush = () => {
    if (entries.size > 0) database.setAll([...entries.values()]);
    entries.clear();
  };
  const commit = () => {
    committed = undefined;
    try {
      flush();
    } finally {
      entries.clear(); // Those that could not be set are told, and are not tried again with the next ones.
    }
  };
  return {
    pending: (cache: CacheName, key: string) => entries.get(nameOf({ cache, key }))?.value,
    set(entry: CacheEntry): Promise<void> {
      if (!entries.has(nameOf(entry))) entries.set(nameOf(entry), entry);
      committed ??= setImmediate().then(commit);
      return committed;
    },
    flush,
  };
}
