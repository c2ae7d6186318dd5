import type { AgentLimits } from '../core/contracts/index.ts';

/** The limits of a task that sets none. */
export const WORK_LIMITS: AgentLimits = {
  timeoutMs: 600_000,
  maxTurns: 50,
  processes: 512,
  memoryMb: 4096,
  diskMb: 2048,
};

/** Enough to see whether a skill is loaded. */
export const TRIGGER_LIMITS: AgentLimits = {
  timeoutMs: 300_000,
  maxTurns: 8,
  processes: 512,
  memoryMb: 4096,
  diskMb: 1024,
};
