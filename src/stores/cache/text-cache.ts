import { join } from 'node:path';
import type { ReplyCache, RunCaches, TextCache } from '../../core/contracts/index.ts';
import type { OpenOptions } from '../../core/run/index.ts';
import { makeFolder } from '../make-folder.ts';
import { makeOwnFolder, refuseLink } from '../own-place.ts';
import { shownPath } from '../shown-path.ts';
import { type CacheName, openCacheDatabase } from './cache-database.ts';
import { groupWriter } from './group-writer.ts';

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
  const textCache = (cache: CacheName): ReplyCache => ({
    get: async (key) => database.get(cache, key) ?? writer.pending({ cache, key }),
    async set(key, value, onSafe) {
      // The driver itself would still write through a statement that it has prepared.
      if (!isOpen) throw new Error('the caches of this run are closed');
      await (cache === 'replies' ? writer.setNow : writer.setSoon)({ cache, key, value }, onSafe);
    },
    mark: () => database.mark(cache),
    since: (mark) => database.since(cache, mark),
  });
  return {
    replies: textCache('replies'),
    rollouts: { ...textCache('rollouts'), flush: writer.flush },
    close() {
      isOpen = false;
      writer.flush();
      database.close();
    },
  };
}
