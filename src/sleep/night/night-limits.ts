import type { SkillOptConfigInput } from '../../core/config.ts';
import { SkillError } from '../../core/errors.ts';
import type { StageUsage } from '../../core/run/stage-usage.ts';

type UsageTable = Readonly<Record<string, StageUsage>>;

const sumOf = (tables: readonly UsageTable[], amount: (usage: StageUsage) => number) =>
  tables.flatMap((table) => Object.values(table)).reduce((sum, usage) => sum + amount(usage), 0);

const AMOUNTS = {
  maxCalls: ({ replies, cacheHits, retries }: StageUsage) => replies - cacheHits + retries,
  maxTotalTokens: ({ input, output }: StageUsage) => input + output,
  maxCostUsd: ({ costUsd }: StageUsage) => costUsd,
} as const;
type Limit = keyof typeof AMOUNTS;
const LIMITS = Object.keys(AMOUNTS) as Limit[];

/**
 * The settings of the next run of a night, with what is left of the night's limits: they hold for all its runs and proofs
 * together. Throws `BUDGET_EXHAUSTED` when nothing is left.
 */
export function withLimitsLeft(config: SkillOptConfigInput, used: readonly UsageTable[]): SkillOptConfigInput {
  const left = LIMITS.flatMap((name) => {
    const limit = config[name];
    return limit === undefined ? [] : [[name, limit - sumOf(used, AMOUNTS[name])] as const];
  });
  const spent = left.find(([, amount]) => amount <= 0);
  if (spent) {
    throw new SkillError('BUDGET_EXHAUSTED', `the night has used its ${spent[0]} of ${config[spent[0]]}`, {
      hint: 'What it has done is kept; with a higher limit it resumes.',
    });
  }
  return { ...config, ...Object.fromEntries(left) };
}

/** The limits that a night cannot resume with once they are used. Minutes are counted anew. */
export const limitsKey = (config: SkillOptConfigInput): string =>
  JSON.stringify(LIMITS.map((name) => config[name] ?? null));

/** Whether a limit other than time has ended a night. */
export const isSpent = (error: unknown): boolean =>
  error instanceof SkillError && error.code === 'BUDGET_EXHAUSTED' && !/minute/i.test(error.message);
