import { z } from 'zod';

/** What one attempt of an agent may use up. */
export type AgentLimits = {
  readonly timeoutMs: number;
  readonly maxTurns?: number | undefined;
  readonly maxUsd?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** Most processes at once, of all that it starts. */
  readonly processes?: number | undefined;
  readonly memoryMb?: number | undefined;
  /** Most that it may write into its workspace, its home and its temporary folder. */
  readonly diskMb?: number | undefined;
};

const positive = z.number().positive();
/** Timers know no longer times than weeks, and end at once for those. */
const A_DAY_MS = 86_400_000;

/** The same as files say it, of a target or of one task: each may be left out. */
export const AgentLimitsSpec = z
  .strictObject({
    timeoutMs: positive.int().max(A_DAY_MS),
    maxTurns: positive.int(),
    maxUsd: positive,
    maxTokens: positive.int(),
    processes: positive.int(),
    memoryMb: positive,
    diskMb: positive,
  } satisfies Record<keyof AgentLimits, z.ZodType<number>>)
  .partial();
