import type { StepRecord } from './step-record.ts';

/** Steps whose candidates had the same fault, so that they were not scored. */
export type FaultySteps = { readonly reason: string; readonly steps: readonly number[] };

type Faulty = { readonly step: number; readonly reason: string };

/** Those with the same fault together, in the order of their first. The last reason stands for all of them. */
export function groupFaults(faults: readonly Faulty[]): FaultySteps[] {
  const groups = new Map<string, FaultySteps>();
  for (const { step, reason } of faults) {
    const kind = kindOf(reason);
    groups.set(kind, { reason, steps: [...(groups.get(kind)?.steps ?? []), step] });
  }
  return [...groups.values()];
}

/** A description of 1,025 characters and one of 1,100 have the same fault. */
const kindOf = (reason: string) => reason.replace(/\d+(?:[.,]\d+)*/g, '#');

/** The candidate of a step was no skill that could be used: nothing was attempted with it. */
export const isUnscored = ({ action }: Pick<StepRecord, 'action'>) => action === 'skip_invalid';
