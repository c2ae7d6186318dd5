import { join } from 'node:path';
import { SkillError, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import type { Ledger } from '../../core/run/index.ts';
import { type Budget, createBudget, type Held } from '../../models/index.ts';
import { openLedger } from '../../stores/index.ts';

const COUNTED = ['maxCalls', 'maxTotalTokens', 'maxCostUsd'] as const;

/**
 * The limits of a night: mining, the runs of all documents and their proofs share them, and with a ledger also what was
 * spent before the night was cut off. Minutes count from now. Nothing, where nothing is limited.
 */
export function nightBudget(config: SkillOptConfigInput, ledger?: Ledger): Budget | undefined {
  const { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes } = config;
  const isCounted = COUNTED.some((name) => config[name] !== undefined);
  if (!isCounted && maxMinutes === undefined) return undefined;
  const limits = { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes };
  const names = { totalTokens: 'maxTokensPerNight' };
  return createBudget({ ...limits, names, spent: ledger?.before, ledger: isCounted ? ledger : undefined });
}

/** `work` within the limits of the night in this folder: what it spends survives the process. */
export async function withinLimits<Answer>(
  folder: string,
  config: SkillOptConfigInput,
  work: (budget: Budget | undefined) => Promise<Answer>,
): Promise<Answer> {
  const ledger = await openLedger(join(folder, 'night-spent.json'));
  return work(nightBudget(config, ledger)).finally(ledger.close);
}

/** While `work` looks for tasks, half of every limit is kept for what is done with them. */
export async function keepingHalf<Answer>(
  budget: Budget | undefined,
  { maxMinutes = 0 }: SkillOptConfigInput,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const half = (limit: number) => (Number.isFinite(limit) ? limit / 2 : 0);
  const { calls = 0, totalTokens = 0, costUsd = 0 } = budget?.limits ?? {};
  budget?.hold({
    ...{ calls: Math.floor(half(calls)), totalTokens: half(totalTokens), costUsd: half(costUsd) },
    ...{ minutes: half(maxMinutes), purpose: 'the rest of the night', others: 'finding tasks' },
  });
  return work().finally(() => budget?.release());
}

export type SearchBudget = {
  readonly budget: Budget;
  /** What the passes behind a proven gain will need, once that is known. */
  readonly reserve: () => Held | undefined;
};

/** The same limits for a search: beside its final measurement, `more` times as much is kept for the proof, and also after it. */
export function searchBudget(budget: Budget, more: number): SearchBudget {
  let kept: Held | undefined;
  return {
    budget: {
      ...budget,
      hold(part) {
        kept = times(part, more);
        budget.hold(times(part, 1 + more));
      },
      release: () => (kept ? budget.hold(kept) : budget.release()),
    },
    reserve: () => kept,
  };
}

const times = ({ calls = 0, totalTokens = 0, costUsd = 0, minutes = 0, others }: Held, factor: number): Held => ({
  ...{ totalTokens: factor * totalTokens, costUsd: factor * costUsd, minutes: factor * minutes },
  ...{ calls: Math.ceil(factor * calls), purpose: 'the final measurement and the proof', others },
});

const HOUR_MS = 3_600_000;
/** A job that starts every night, with the same limits, is not to wait for a person. */
const WAITING_HOURS = 12;

/** A night that has used up its limits and is started with the same ones: it waits for more, or for the next night. */
export function requireRaised(startedAt: string, now: Date): void {
  if (Number(now) - Date.parse(startedAt) >= WAITING_HOURS * HOUR_MS) return;
  throw new SkillError('BUDGET_EXHAUSTED', 'the last night has used up its limits, and these are the same', {
    hint: 'Raise them and start again: that night resumes, and pays for nothing twice.',
  });
}

/** The limits that a night cannot resume with once they are used. Minutes are counted from each start. */
export const limitsKey = (config: SkillOptConfigInput): string =>
  JSON.stringify(COUNTED.map((name) => config[name] ?? null));

export const isOutOfBudget = (error: unknown): error is SkillError =>
  error instanceof SkillError && error.code === 'BUDGET_EXHAUSTED';

/** Whether a limit other than time has ended a night. */
export const isSpent = (error: unknown): boolean => isOutOfBudget(error) && !/minute/i.test(error.message);
