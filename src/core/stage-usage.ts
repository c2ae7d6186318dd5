import { noStageUsage, type StageUsage } from './event.ts';

type UsageTable = Readonly<Record<string, StageUsage>>;

export function addStageUsage(a: UsageTable, b: UsageTable): UsageTable {
  const sum = { ...a };
  for (const [stage, usage] of Object.entries(b)) sum[stage] = addUsage(sum[stage] ?? noStageUsage, usage);
  return sum;
}

/** A journal of an earlier version lacks the later counters. */
export function addUsage(a: StageUsage, b: Partial<StageUsage>): StageUsage {
  const sum: Record<Counter, number> = { ...noStageUsage, ...a };
  for (const counter of COUNTERS) sum[counter] += b[counter] ?? 0;
  const rollouts = (a.rollouts ?? 0) + (b.rollouts ?? 0);
  return rollouts > 0 ? { ...sum, rollouts } : sum;
}

type Counter = Exclude<keyof StageUsage, 'rollouts'>;
const COUNTERS = Object.keys(noStageUsage) as Counter[];
