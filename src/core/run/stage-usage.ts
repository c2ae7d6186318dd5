import type { Usage } from '../model.ts';

export type StageUsage = Usage & {
  /** Replies used, sent for or from the cache. */
  readonly replies: number;
  /** How many of them came from the cache. */
  readonly cacheHits: number;
  readonly retries: number;
  /** Milliseconds that calls stood in line for a rate limit, added up over calls. */
  readonly waitMs: number;
  /** Dollars, of the replies whose model has a known price. */
  readonly costUsd: number;
  /** Replies whose model has none. */
  readonly unpriced: number;
  /** Rollouts that were made and not taken from the cache. Only the stage `rollout` counts them. */
  readonly rollouts?: number;
  /** Of these, where an agent did the task: those in which it loaded the skill, and those in which it did not. */
  readonly loaded?: number;
  readonly unread?: number;
  /** And those that were ended before they had loaded it, by a limit say. */
  readonly cutShort?: number;
  /** Replies that a start which was cut off has paid for. The rollouts that they were for are counted by no line, or by one that has the replies again, from the cache. */
  readonly recovered?: number;
};

export const noStageUsage: StageUsage = {
  input: 0,
  cached: 0,
  output: 0,
  reasoning: 0,
  replies: 0,
  cacheHits: 0,
  retries: 0,
  waitMs: 0,
  costUsd: 0,
  unpriced: 0,
};

export type UsageTable = Readonly<Record<string, StageUsage>>;

/** What one reply has cost, and which part of a run has asked for it. */
export type Bill = { readonly stage: string; readonly amounts: Partial<StageUsage> };

export function addStageUsage(a: UsageTable, b: UsageTable): UsageTable {
  const sum = { ...a };
  for (const [stage, usage] of Object.entries(b)) sum[stage] = addUsage(sum[stage] ?? noStageUsage, usage);
  return sum;
}

/** A table of single bills, added to another. */
export const addBills = (table: UsageTable, bills: readonly Bill[]): UsageTable =>
  bills.reduce((sum, { stage, amounts }) => addStageUsage(sum, { [stage]: { ...noStageUsage, ...amounts } }), table);

/** A journal of an earlier version lacks the later counters. */
export function addUsage(a: Partial<StageUsage>, b: Partial<StageUsage>): StageUsage {
  const sum = (of: keyof StageUsage) => (a[of] ?? 0) + (b[of] ?? 0);
  const [rollouts, recovered] = [sum('rollouts'), sum('recovered')];
  const [loaded, unread, cutShort] = [sum('loaded'), sum('unread'), sum('cutShort')];
  // Written out, since this is done for every reply.
  return {
    input: sum('input'),
    cached: sum('cached'),
    output: sum('output'),
    reasoning: sum('reasoning'),
    replies: sum('replies'),
    cacheHits: sum('cacheHits'),
    retries: sum('retries'),
    waitMs: sum('waitMs'),
    costUsd: sum('costUsd'),
    unpriced: sum('unpriced'),
    ...(rollouts > 0 && { rollouts }),
    ...(loaded > 0 && { loaded }),
    ...(unread > 0 && { unread }),
    ...(cutShort > 0 && { cutShort }),
    ...(recovered > 0 && { recovered }),
  };
}

type Timed = { readonly ms: number; readonly usage: UsageTable };

/** Milliseconds of one rollout that had to be asked for: what the cache knew took no time. */
export function timeOfRollout({ ms, usage: { rollout } }: Timed): number | undefined {
  if (!rollout?.rollouts || rollout.replies === rollout.cacheHits) return undefined;
  return ms / (rollout.rollouts * (1 - rollout.cacheHits / rollout.replies));
}
