import { SkillError } from '../../core/errors.ts';
import type { Amounts } from './amounts.ts';

/** A part of the limits that is kept back. */
export type Kept = {
  readonly amounts: Amounts;
  readonly minutes: number;
  /** What it is kept for, and who may not have it. */
  readonly purpose: string;
  readonly others: string;
  /** When it was first kept back. */
  readonly spentBefore: Amounts;
};

type Shortage = {
  readonly spent: Amounts;
  readonly bound: Amounts;
  readonly limits: Amounts;
  readonly kept?: Kept | undefined;
};

const flags = { calls: '--max-calls', totalTokens: '--max-total-tokens', costUsd: '--max-cost-usd' } as const;
const units = { calls: ' calls', totalTokens: ' tokens', costUsd: '' } as const;

/** Says which limit, what is spent of it, what is kept back, and what the next call could have cost. */
export function budgetExhausted(name: keyof Amounts, { spent, bound, limits, kept }: Shortage): SkillError {
  const amount = (amounts: Amounts) => (name === 'costUsd' ? dollars(amounts[name]) : count(amounts[name]));
  const flag = flags[name];
  const next = name === 'calls' ? [] : [`the next call may take up to ${amount(bound)}`];
  const spending = `${amount(spent)} of ${amount(limits)}${units[name]}`;
  if (!kept || kept.amounts[name] === 0) return exhausted(flag, 'is reached', [`${spending} are spent`, ...next]);
  const needs = `${amount(kept.amounts)}`;
  if (spent[name] > kept.spentBefore[name]) {
    return exhausted(flag, 'is reached', [`${spending} are spent`, `${needs} are kept for ${kept.purpose}`, ...next]);
  }
  const before = `${spending} were spent before it`;
  return exhausted(flag, `leaves nothing for ${kept.others}`, [before, `${kept.purpose} needs ${needs}`, ...next]);
}

export function timeIsUp(maxMinutes: number, kept?: Kept): SkillError {
  const all = `${count(maxMinutes)} minutes`;
  if (!kept || kept.minutes === 0)
    return exhausted('--max-minutes', 'is reached', [`${count(maxMinutes)} of ${all} are over`]);
  const over = `${count(Math.max(0, maxMinutes - kept.minutes))} of ${all} are over`;
  return exhausted('--max-minutes', 'is reached', [over, `${count(kept.minutes)} are kept for ${kept.purpose}`]);
}

function exhausted(flag: string, what: string, facts: readonly string[]): SkillError {
  return new SkillError('BUDGET_EXHAUSTED', `${flag} ${what}: ${sentence(facts)}`, {
    hint: `Raise ${flag} and run the same command again: it goes on from here.`,
  });
}

function sentence(facts: readonly string[]): string {
  return facts.length === 1 ? facts[0]! : `${facts.slice(0, -1).join(', ')}, and ${facts.at(-1)}`;
}

function count(amount: number): string {
  return amount.toLocaleString('en-US');
}

/** Cents, or as many places as a smaller amount needs. */
function dollars(usd: number): string {
  return `$${usd >= 0.01 || usd === 0 ? usd.toFixed(2) : usd.toPrecision(2)}`;
}
