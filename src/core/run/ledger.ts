import { type Amounts, addAmounts, largerAmounts, noAmounts, toNanos } from './amounts.ts';
import {
  addStageUsage,
  addUsage,
  type LimitName,
  noStageUsage,
  type StageUsage,
  type UsageTable,
} from './stage-usage.ts';

/** One call, or one attempt of an agent with all its calls, as it stands now. */
export type LedgerEntry = {
  readonly stage: string;
  /** What was answered so far. */
  readonly answered?: Partial<StageUsage> | undefined;
  /** What failed, at the most that it may have cost. Limits count it. */
  readonly failed?: Amounts | undefined;
  /** What is in flight, at the most that it may cost. */
  readonly inFlight?: Amounts | undefined;
};

/** What was spent, and the limit that ended the last start, if one did. */
export type Spent = {
  /** All that limits count: what was answered, what failed, and what was in flight when a process was killed. */
  readonly counted: Amounts;
  /** What was answered and what may have been, by stage. */
  readonly usage: UsageTable;
  /** Processes that ended with calls in flight. */
  readonly kills: number;
  readonly limit?: LimitName;
  /** What to raise it to, so that the rest of the run is paid for. */
  readonly advised?: number;
};

export const nothingSpent: Spent = { counted: noAmounts, usage: {}, kills: 0 };

/** An entry of the ledger that is not over. */
export type OpenEntry = {
  note(now: Omit<LedgerEntry, 'stage'>): void;
  end(now: Omit<LedgerEntry, 'stage' | 'inFlight'>): void;
};

/** Keeps what is spent, call by call. What was in flight when the process was killed counts as unanswered afterwards. */
export interface Ledger {
  /** Notes a call before it is sent: safe from a kill once this returns. */
  enter(entry: LedgerEntry): OpenEntry;
  /** Notes what became of an attempt, such as whether an agent loaded the skill. */
  add(stage: string, answered: Partial<StageUsage>): void;
  /** What was spent so far. What is in flight now is not part of it. */
  spent(): Spent;
  /** What the journal has counted is answered, whatever the ledger has lost. Answers with what the ledger alone knows. */
  reconcile(journal: UsageTable): UsageTable;
  /** Keeps which limit has ended the run and what to raise it to, until the next call. */
  stop(limit: LimitName, advised?: number): void;
}

/** `atEnd`: what was spent if nothing more is answered. */
type LedgerInMemory = Ledger & { atEnd(): Spent };

/** A ledger in memory. `write` is given each line before it counts. */
export function createLedger(before: Spent, write: (line: object) => void = () => undefined): LedgerInMemory {
  let over = before;
  let lastId = 0;
  const open = new Map<number, LedgerEntry>();
  const note = (id: number, entry: LedgerEntry) => {
    write({ id, ...entry });
    open.set(id, entry);
  };
  return {
    add(stage, answered) {
      write({ id: ++lastId, stage, answered });
      over = addEntry(over, { stage, answered });
    },
    enter(entry) {
      const id = ++lastId;
      const { stage } = entry;
      note(id, entry);
      over = { counted: over.counted, usage: over.usage, kills: over.kills }; // a run that is at work again has not stopped
      return {
        note: (now) => note(id, { stage, ...now }),
        end(now) {
          note(id, { stage, ...now });
          open.delete(id);
          over = addEntry(over, { stage, ...now });
        },
      };
    },
    spent: () => [...open.values()].map(({ inFlight: _, ...entry }) => entry).reduce(addEntry, over),
    reconcile(journal) {
      const missing = usageBeyond(over.usage, journal);
      const usage = addStageUsage(usageBeyond(journal, {}), missing);
      over = { ...over, usage, counted: largerAmounts(over.counted, countedIn(usage)) };
      return missing;
    },
    stop(limit, advised) {
      over = { ...over, limit, ...(advised === undefined ? {} : { advised }) };
    },
    atEnd: () => [...open.values()].reduce(addEntry, over),
  };
}

/** With an entry whose process is gone, or that is over: what was in flight has no answer. */
export function addEntry({ counted, usage, ...others }: Spent, entry: LedgerEntry): Spent {
  const { stage, answered = {}, failed = noAmounts, inFlight = noAmounts } = entry;
  const { calls, totalTokens, costUsd } = inFlight;
  const unanswered = { unanswered: calls, unansweredTokens: totalTokens, unansweredUsd: costUsd };
  const used = addUsage(answered, unanswered);
  return {
    counted: addAmounts(addAmounts(counted, failed), countedIn({ [stage]: used })),
    usage: isNothing(used) ? usage : addStageUsage(usage, { [stage]: used }),
    ...others,
  };
}

/** What limits count of a usage: what was answered, and what may have been. */
function countedIn(usage: UsageTable): Amounts {
  const { input, output, costUsd, ...all } = Object.values(usage).reduce(addUsage, noStageUsage);
  const { unanswered = 0, unansweredTokens = 0, unansweredUsd = 0 } = all;
  return {
    calls: all.replies - all.cacheHits + all.retries + unanswered,
    totalTokens: input + output + unansweredTokens,
    costUsd: costUsd + unansweredUsd,
  };
}

/** What a ledger knows of a stage, besides replies; cache hits and waiting are not in it. */
const FIELDS = [
  ...(['input', 'cached', 'output', 'reasoning', 'costUsd', 'unpriced', 'retries'] as const),
  ...(['unanswered', 'unansweredTokens', 'unansweredUsd', 'loaded', 'unread', 'cutShort'] as const),
] as const;

/** What one table says was paid, or may have been, and the other does not, by stage. */
export function usageBeyond(usage: UsageTable, known: UsageTable): UsageTable {
  const stages = Object.entries(usage).map(([stage, used]) => [stage, paidBeyond(used, known[stage] ?? noStageUsage)]);
  return Object.fromEntries(stages.filter(([, paid]) => !isNothing(paid as StageUsage)));
}

/** What one usage has paid for, or may have, and the other has not. */
export function paidBeyond(usage: Partial<StageUsage>, known: Partial<StageUsage>): StageUsage {
  const beyond = (of: (used: StageUsage) => number) =>
    Math.max(0, of({ ...noStageUsage, ...usage }) - of({ ...noStageUsage, ...known }));
  const fields = FIELDS.map((field) => [field, toNanos(beyond((used) => used[field] ?? 0))]);
  return addUsage(Object.fromEntries(fields), { replies: beyond(({ replies, cacheHits }) => replies - cacheHits) });
}

const isNothing = ({ replies, ...used }: StageUsage) => replies === 0 && FIELDS.every((field) => !used[field]);
