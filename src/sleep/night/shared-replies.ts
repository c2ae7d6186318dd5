import type { ReplyCache } from '../../core/contracts/index.ts';
import type { OpenRunStore, RunStore } from '../../core/run/index.ts';

/** The same store, which also knows what the earlier runs of its night were answered: a question is paid for once a night. */
export function knowingReplies(store: RunStore, earlier: readonly RunStore[]): RunStore {
  if (earlier.length === 0) return store;
  return {
    name: store.name,
    read: () => store.read(),
    async open(options) {
      const own = await store.open(options);
      const others: OpenRunStore[] = [];
      for (const one of earlier) others.push(...(await opened(one)));
      const replies = alsoIn(
        own.caches.replies,
        others.map(({ caches }) => caches.replies),
      );
      return {
        ...own,
        caches: { replies, rollouts: own.caches.rollouts },
        async [Symbol.asyncDispose]() {
          for (const one of [...others, own]) await one[Symbol.asyncDispose]();
        },
      };
    },
  };
}

/** One that somebody else has open is done without. */
const opened = (store: RunStore): Promise<OpenRunStore[]> =>
  store.open().then(
    (one) => [one],
    () => [],
  );

function alsoIn(own: ReplyCache, others: readonly ReplyCache[]): ReplyCache {
  return {
    async get(key) {
      for (const cache of [own, ...others]) {
        const text = await cache.get(key);
        if (text !== undefined) return text;
      }
      return undefined;
    },
    set: (key, value, onSafe) => own.set(key, value, onSafe),
    ...(own.mark ? { mark: () => own.mark!() } : {}),
    ...(own.since ? { since: (mark) => own.since!(mark) } : {}),
  };
}
