import type Libsql from 'libsql';

type Database = InstanceType<typeof Libsql>;

/** What a cache that grew beyond its limit is cut down to, so that the next cut is not soon. */
const KEPT_SHARE = 0.8;
/** How many looks at the size it takes to write as much as the limit. */
const LOOKS = 20;

/** A table, and how to make its map forget the rows up to an id. */
type Trimmed = { readonly name: string; readonly forget: (upTo: number) => void };

export type CacheSize = {
  /** Told how many characters were written. Looks at the size now and then, and drops the oldest rows when it is too large. */
  added(characters: number): void;
};

/** Keeps a cache file below `maxBytes`, give or take what is written between two looks. Pages that were freed are used again. */
export function limitCacheSize(database: Database, tables: readonly Trimmed[], maxBytes: number): CacheSize {
  const usedBytes = sizeReader(database);
  const trim = () => {
    if (usedBytes() <= maxBytes) return;
    const kept = maxBytes * KEPT_SHARE;
    // By rows, which differ in size: so look again, until it is enough or nothing is left to drop.
    for (let used = usedBytes(); used > kept; used = usedBytes()) {
      const dropped = tables.map((table) => dropOldest(database, table, 1 - kept / used));
      if (dropped.every((rows) => rows === 0)) return;
    }
  };
  let unseen = 0;
  trim();
  return {
    added(characters) {
      unseen += characters;
      if (unseen < maxBytes / LOOKS) return;
      unseen = 0;
      trim();
    },
  };
}

function sizeReader(database: Database): () => number {
  const read = (name: string) => database.prepare(`PRAGMA ${name}`).raw();
  const [pages, free] = [read('page_count'), read('freelist_count')];
  const [pageSize] = read('page_size').get() as [number];
  return () => ((pages.get() as [number])[0] - (free.get() as [number])[0]) * pageSize;
}

/** All but the last row may go: ids are counted from it, and the id of a dropped row must never name another text. */
function dropOldest(database: Database, { name, forget }: Trimmed, share: number): number {
  const [count] = database.prepare(`SELECT count(*) FROM ${name}`).raw().get() as [number];
  const doomed = Math.min(count - 1, Math.ceil(count * share));
  if (doomed <= 0) return 0;
  const select = database.prepare<[number]>(`SELECT id FROM ${name} ORDER BY id LIMIT 1 OFFSET ?`).raw();
  const row = select.get(doomed - 1) as [number] | undefined;
  if (row === undefined) return 0; // Another process was faster.
  const { changes } = database.prepare<[number]>(`DELETE FROM ${name} WHERE id <= ?`).run(row[0]);
  forget(row[0]);
  return changes;
}
