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

/** As many replies wait for each other at most. */
const GROUP_SIZE = 4;

type EntryName = Omit<CacheEntry, 'value'>;

/**
 * Commits entries in groups, since one by one commits take a fifth of the time of a busy process. Replies, which callers wait
 * for, form small groups: to gather all of a burst would keep its first reply waiting for its last, and send the next
 * requests in a burst again. What nobody waits for is gathered for longer.
 */
function groupWriter(database: CacheDatabase) {
  const [urgent, patient] = [createGroup(database), createGroup(database)];
  let now: NodeJS.Immediate | undefined;
  let soon: NodeJS.Timeout | undefined;

  const flushUrgent = () => {
    clearImmediate(now);
    now = undefined;
    urgent.commit();
  };
  const flushPatient = () => {
    clearTimeout(soon);
    soon = undefined;
    patient.commit();
  };

  return {
    pending: (entry: EntryName) => (urgent.find(entry) ?? patient.find(entry))?.value,
    /** With what else comes in this turn of the event loop, but with few others. */
    setNow(entry: CacheEntry): Promise<void> {
      const added = urgent.add(entry);
      now ??= setImmediate(flushUrgent);
      if (urgent.size() === GROUP_SIZE) flushUrgent();
      return added;
    },
    /** Before long. */
    setSoon(entry: CacheEntry): Promise<void> {
      soon ??= setTimeout(flushPatient, SOON_MS);
      return patient.add(entry);
    },
    flush() {
      flushUrgent();
      flushPatient();
    },
  };
}

type Waiting = { readonly resolve: () => void; readonly reject: (error: unknown) => void };

function createGroup(database: CacheDatabase) {
  const entries = new Map<string, CacheEntry>();
  let waiting: Waiting[] = [];
  const nameOf = ({ cache, key }: EntryName) => `${cache} ${key}`;
  return {
    find: (entry: EntryName) => entries.get(nameOf(entry)),
    size: () => waiting.length,
    /** The first value under a key stays. */
    add(entry: CacheEntry): Promise<void> {
      if (!entries.has(nameOf(entry))) entries.set(nameOf(entry), entry);
      return new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
    },
    /** All that were added, and an empty group after that. */
    commit(): void {
      const group = { entries: [...entries.values()], waiting };
      entries.clear();
      waiting = [];
      if (group.entries.length > 0) commit(database, group);
    },
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
