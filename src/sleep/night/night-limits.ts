import { join } from 'node:path';
import { isOutOfBudget, SkillError, type SkillOptConfigInput } from '../../core/contracts/index.ts';
import { type Ledger, totalCost } from '../../core/run/index.ts';
import { type Budget, createBudget, type Held } from '../../models/index.ts';
import { openLedger, readLedger } from '../../stores/index.ts';

const COUNTED = ['maxCalls', 'maxTotalTokens', 'maxCostUsd'] as const;

/** The limits of a whole night; a ledger adds what was spent before a cut. Minutes count from now. */
export function nightBudget(config: SkillOptConfigInput, ledger?: Ledger): Budget {
  const { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes } = config;
  const names = { totalTokens: 'maxTokensPerNight' };
  return createBudget({ maxCalls, maxTotalTokens, maxCostUsd, maxMinutes, names, ledger });
}

const LEDGER = 'night-spent.json';

/** What the night in this folder has cost so far, over all its starts. */
export const nightCost = async (folder: string) => totalCost((await readLedger(join(folder, LEDGER))).usage);

/** Runs `work` within the limits of the night in this folder. What it spends survives the process. */
export async function withinLimits<Answer>(
  folder: string,
  config: SkillOptConfigInput,
  work: (budget: Budget) => Promise<Answer>,
): Promise<Answer> {
  const ledger = await openLedger(join(folder, LEDGER));
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

/** The same limits for a search. Besides its final measurement, `more` times as much is kept for the proof (`reserve`). */
export function searchBudget(budget: Budget, more: number) {
  let kept: Held | undefined;
  return {
    budget: {
      ...budget,
      hold(part: Held) {
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
/** A nightly job has the same limits every night, and must not wait for a person. */
const WAITING_HOURS = 12;

/** Refuses to resume a night with the limits that it has used up, until it is time for another night. */
export function requireRaised(startedAt: string, now: Date): void {
  if (Number(now) - Date.parse(startedAt) >= WAITING_HOURS * HOUR_MS) return;
  throw new SkillError('BUDGET_EXHAUSTED', 'the last night has used up its limits, and these are the same', {
    hint: 'Raise them and start again: that night resumes, and pays for nothing twice.',
  });
}

/** Without minutes: they are counted from each start. */
export const limitsKey = (config: SkillOptConfigInput): string =>
  JSON.stringify(COUNTED.map((name) => config[name] ?? null));

/** Whether a limit other than time has ended a night. */
export const isSpent = (error: unknown): boolean => isOutOfBudget(error) && !/minute/i.test(error.message);
