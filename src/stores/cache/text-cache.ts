import { join, resolve } from 'node:path';
import type { RunCaches, TextCache } from '../../core/contracts/index.ts';
import type { OpenOptions } from '../../core/run/index.ts';
import { makeFolder, makeOwnFolder, refuseLink, shownPath } from '../own-files.ts';
import { type CacheDatabase, type CacheEntry, type CacheName, openCacheDatabase } from './cache-database.ts';

type OpenCaches = RunCaches & {
  /** What is being set is safe when `flush` returns. */
  readonly rollouts: TextCache & { flush(): void };
  /** What is being set is safe first. Afterwards nothing can be set. */
  close(): void;
};

const DEFAULT_MAX_MB = 1024;

/** The caches of a run, in `cache/cache.db` below `directory`. Safe to delete between runs; that only costs money. */
export async function openCaches(
  directory: string,
  { maxCacheMb = DEFAULT_MAX_MB, onWarning = () => undefined }: OpenOptions = {},
): Promise<OpenCaches> {
  const folder = join(directory, 'cache');
  await makeFolder(directory);
  await makeOwnFolder(directory, folder);
  for (const suffix of ['', '-wal', '-shm']) await refuseLink(join(folder, `cache.db${suffix}`));
  const onDamage = (aside: string) =>
    onWarning(`the cache was damaged and is now ${shownPath(aside)}; what it held is asked for again`);
  const database = await openCacheDatabase(join(folder, 'cache.db'), { maxBytes: maxCacheMb * 2 ** 20, onDamage });
  const writer = groupWriter(database);
  let isOpen = true;
  const textCache = (cache: CacheName): TextCache => ({
    get: async (key) => database.get(cache, key) ?? writer.pending({ cache, key }),
    async set(key, value) {
      // The driver itself would still write through a statement that it has prepared.
      if (!isOpen) throw new Error('the caches of this run are closed');
      await (cache === 'replies' ? writer.setNow : writer.setSoon)({ cache, key, value });
    },
  });
  return {
    replies: textCache('replies'),
    rollouts: { ...textCache('rollouts'), flush: writer.flush },
    workFolder: resolve(folder, 'work'),
    close() {
      isOpen = false;
      writer.flush();
      database.close();
    },
  };
}

/** How long an entry may wait to be written together with others, when no caller waits for it. */
const SOON_MS = 20;

type EntryName = Omit<CacheEntry, 'value'>;
type Waiting = { readonly resolve: () => void; readonly reject: (error: unknown) => void };

/** As many replies wait for each other at most. */
const GROUP_SIZE = 4;

/**
 * Commits entries in small groups. One by one, commits take a fifth of the time of a busy process. But to gather all of
 * a burst would keep its first reply waiting for its last, and send the next requests in a burst again.
 */
function groupWriter(database: CacheDatabase) {
  const entries = new Map<string, CacheEntry>();
  let waiting: Waiting[] = [];
  let now: NodeJS.Immediate | undefined;
  let soon: NodeJS.Timeout | undefined;
  let urgent = 0;
  const nameOf = ({ cache, key }: EntryName) => `${cache} ${key}`;

  const flush = () => {
    const group = { entries: [...entries.values()], waiting };
    clearImmediate(now);
    clearTimeout(soon);
    entries.clear();
    [waiting, now, soon, urgent] = [[], undefined, undefined, 0];
    if (group.entries.length > 0) commit(database, group);
  };

  const add = (entry: CacheEntry) => {
    if (!entries.has(nameOf(entry))) entries.set(nameOf(entry), entry);
    return new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
  };

  return {
    pending: (entry: EntryName) => entries.get(nameOf(entry))?.value,
    /** With what else comes in this turn of the event loop, but with few others. */
    setNow(entry: CacheEntry): Promise<void> {
      const added = add(entry);
      now ??= setImmediate(flush);
      if (++urgent === GROUP_SIZE) flush();
      return added;
    },
    /** With the next group, or before long. */
    setSoon(entry: CacheEntry): Promise<void> {
      soon ??= setTimeout(flush, SOON_MS);
      return add(entry);
    },
    flush,
  };
}

/** Callers of entries that could not be set are notified; those entries are not tried again with the next ones. */
function commit(database: CacheDatabase, group: { entries: readonly CacheEntry[]; waiting: readonly Waiting[] }): void {
  try {
    database.setAll(group.entries);
  } catch (error) {
    for (const { reject } of group.waiting) reject(error);
    return;
  }
  for (const { resolve } of group.waiting) resolve();
}
