import { type RunCaches, SkillError, type TextCache } from '../../core/contracts/index.ts';
import {
  createLedger,
  nothingSpent,
  type OpenRunStore,
  type RunEvent,
  type RunStore,
  type Views,
  WHOLE_FOLDER,
} from '../../core/run/index.ts';

type MemoryRun = RunStore & { readonly events: readonly RunEvent[]; readonly views: Views };

/** A run kept in this object, for tests and experiments. Opening it again resumes with its events and caches. */
export function memoryRun(before: readonly RunEvent[] = []): MemoryRun {
  const events = before.map(copy);
  const views: Record<string, string> = {};
  const caches: RunCaches = { replies: mapCache(), rollouts: mapCache() };
  const { atEnd: _, ...ledger } = createLedger(nothingSpent);
  let holder: OpenRunStore | undefined;
  return {
    name: 'memory',
    events,
    views,
    read: async () => events.map(copy),
    async open() {
      if (holder)
        throw new SkillError('RUN_LOCKED', 'The run in memory is open already', { hint: 'Dispose of it first.' });
      const opened: OpenRunStore = {
        caches,
        ledger,
        append: async (event) => void events.push(copy(event)),
        async writeViews(changed) {
          const isWhole = Object.keys(changed).some((name) => name.startsWith(WHOLE_FOLDER));
          for (const name of Object.keys(views)) if (isWhole && name.startsWith(WHOLE_FOLDER)) delete views[name];
          Object.assign(views, changed);
        },
        async [Symbol.asyncDispose]() {
          if (holder === opened) holder = undefined;
        },
      };
      holder = opened;
      return opened;
    },
  };
}

/** A copy, as a file would give it back. */
const copy = (event: RunEvent): RunEvent => JSON.parse(JSON.stringify(event));

function mapCache(): TextCache {
  const texts = new Map<string, string>();
  return {
    get: async (key) => texts.get(key),
    async set(key, value) {
      if (!texts.has(key)) texts.set(key, value);
    },
  };
}
