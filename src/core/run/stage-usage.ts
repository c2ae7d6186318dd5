import { noUsage, type Usage } from '../contracts/index.ts';

export type StageUsage = Usage & {
  /** Replies used, from the model or from the cache. */
  readonly replies: number;
  readonly cacheHits: number;
  readonly retries: number;
  /** Milliseconds that calls waited for a rate limit, added up. */
  readonly waitMs: number;
  /** Dollars, of the replies whose model has a known price. */
  readonly costUsd: number;
  /** Replies whose model has none. */
  readonly unpriced: number;
  /** Rollouts that were made, not taken from the cache. Only the stage `rollout` counts them. */
  readonly rollouts?: number;
  /** Of the rollouts by an agent: those in which it loaded the skill, and those in which it did not. */
  readonly loaded?: number;
  readonly unread?: number;
  /** Those that a limit ended before they loaded the skill. */
  readonly cutShort?: number;
  /** Replies that a start which was cut off has paid for. */
  readonly recovered?: number;
};

export const noStageUsage: StageUsage = {
  ...noUsage,
  replies: 0,
  cacheHits: 0,
  retries: 0,
  waitMs: 0,
  costUsd: 0,
  unpriced: 0,
};

export type UsageTable = Readonly<Record<string, StageUsage>>;

/** What one reply has cost, and the stage that asked for it. */
export type Bill = { readonly stage: string; readonly amounts: Partial<StageUsage> };

export function addStageUsage(a: UsageTable, b: UsageTable): UsageTable {
  const stages = Object.entries(b);
  if (stages.length === 0) return a;
  const sum = { ...a };
  for (const [stage, usage] of stages) sum[stage] = addUsage(sum[stage] ?? noStageUsage, usage);
  return sum;
}

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

/** Milliseconds of one rollout that had to be asked for: what the cache knew took no time. */
export function timeOfRollout({ ms, usage: { rollout } }: { ms: number; usage: UsageTable }): number | undefined {
  if (!rollout?.rollouts || rollout.replies === rollout.cacheHits) return undefined;
  return ms / (rollout.rollouts * (1 - rollout.cacheHits / rollout.replies));
}

/** What became of the replies to one stage's questions to the optimizer. */
type StageAnswers = {
  readonly read: number;
  /** Replies that could not be read, whether or not the next one could. */
  readonly unreadable: number;
  /** The beginning of the first unreadable reply. */
  readonly sample?: string;
};

export type AnswerTable = Readonly<Record<string, StageAnswers>>;

export function addAnswers(a: AnswerTable, b: AnswerTable = {}): AnswerTable {
  const sum = { ...a };
  for (const [stage, { read, unreadable, sample }] of Object.entries(b)) {
    const known = sum[stage] ?? { read: 0, unreadable: 0 };
    const first = known.sample ?? sample;
    const total = { read: known.read + read, unreadable: known.unreadable + unreadable };
    sum[stage] = first === undefined ? total : { ...total, sample: first };
  }
  return sum;
}

/** The optimizer was asked, and no answer could be read: the run learned nothing. */
export function isNothingRead(table: AnswerTable): boolean {
  const stages = Object.values(table);
  return stages.some(({ unreadable }) => unreadable > 0) && stages.every(({ read }) => read === 0);
}

/** What calls cost. */
export type Amounts = { readonly calls: number; readonly totalTokens: number; readonly costUsd: number };
export const noAmounts: Amounts = { calls: 0, totalTokens: 0, costUsd: 0 };

/** The limits of a run, as its config calls them. */
export const LIMIT_NAMES = ['maxCalls', 'maxTotalTokens', 'maxCostUsd', 'maxMinutes'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** What a run has spent, and the limit that ended its last start, if one did. */
export type Spent = Amounts & {
  readonly limit?: LimitName;
  /** What to raise it to, so that the next stage is paid for. */
  readonly advised?: number;
  /** Upper bound: a killed process may have reserved more than it used. */
  readonly isMost?: true;
};

/** Keeps what a run has spent, even if its process is killed. */
export interface Ledger {
  /** The most that was spent before the store was opened. */
  readonly before: Amounts;
  /** Counts `most` as spent in all, safe from a kill once this returns. An orderly close replaces it by `exact()`. */
  claim(most: Amounts, exact: () => Amounts): void;
  /** Keeps which limit has ended the run and what to raise it to, until the next claim. */
  stop?(limit: LimitName, advised?: number): void;
}
