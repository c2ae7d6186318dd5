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
  /** Calls that were in flight when their process was killed, and the most tokens and dollars that they may have cost. */
  readonly unanswered?: number;
  readonly unansweredTokens?: number;
  readonly unansweredUsd?: number;
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

/** A journal of an earlier version lacks the later counters. */
export function addUsage(a: Partial<StageUsage>, b: Partial<StageUsage>): StageUsage {
  // Written out, since this is done for every reply.
  const sum: { -readonly [Name in keyof StageUsage]: StageUsage[Name] } = {
    input: (a.input ?? 0) + (b.input ?? 0),
    cached: (a.cached ?? 0) + (b.cached ?? 0),
    output: (a.output ?? 0) + (b.output ?? 0),
    reasoning: (a.reasoning ?? 0) + (b.reasoning ?? 0),
    replies: (a.replies ?? 0) + (b.replies ?? 0),
    cacheHits: (a.cacheHits ?? 0) + (b.cacheHits ?? 0),
    retries: (a.retries ?? 0) + (b.retries ?? 0),
    waitMs: (a.waitMs ?? 0) + (b.waitMs ?? 0),
    costUsd: (a.costUsd ?? 0) + (b.costUsd ?? 0),
    unpriced: (a.unpriced ?? 0) + (b.unpriced ?? 0),
  };
  for (const name of SOMETIMES) {
    const total = (a[name] ?? 0) + (b[name] ?? 0);
    if (total > 0) sum[name] = total;
  }
  if (sum.unanswered === undefined) return sum;
  const [unansweredTokens, unansweredUsd] = [
    (a.unansweredTokens ?? 0) + (b.unansweredTokens ?? 0),
    (a.unansweredUsd ?? 0) + (b.unansweredUsd ?? 0),
  ];
  return { ...sum, unansweredTokens, unansweredUsd };
}

/** Counters that are absent at zero. */
const SOMETIMES = ['rollouts', 'loaded', 'unread', 'cutShort', 'recovered', 'unanswered'] as const;

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

export function addAnswers(a: AnswerTable, b: AnswerTable | undefined): AnswerTable {
  if (b === undefined) return a;
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

/** The limits of a run, as its config calls them. */
export const LIMIT_NAMES = ['maxCalls', 'maxTotalTokens', 'maxCostUsd', 'maxMinutes'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];
