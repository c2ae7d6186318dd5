import { SkillError } from '../../core/errors.ts';
import type { Amounts } from './amounts.ts';

type Shortage = { readonly spent: Amounts; readonly bound: Amounts; readonly limits: Amounts };

const flags = { calls: '--max-calls', totalTokens: '--max-total-tokens', costUsd: '--max-cost-usd' } as const;
const units = { calls: ' calls', totalTokens: ' tokens', costUsd: '' } as const;

/** Says which limit, what is spent of it, and what the next call could have cost. */
export function budgetExhausted(name: keyof Amounts, { spent, bound, limits }: Shortage): SkillError {
  const amount = (amounts: Amounts) => (name === 'costUsd' ? dollars(amounts[name]) : count(amounts[name]));
  const used = `${amount(spent)} of ${amount(limits)}${units[name]} are spent`;
  const next = name === 'calls' ? '' : `, and the next call may take up to ${amount(bound)}`;
  return new SkillError('BUDGET_EXHAUSTED', `${flags[name]} is reached: ${used}${next}`, {
    hint: hintFor(flags[name]),
  });
}

export function timeIsUp(maxMinutes: number): SkillError {
  const message = `--max-minutes is reached: ${count(maxMinutes)} of ${count(maxMinutes)} minutes are over`;
  return new SkillError('BUDGET_EXHAUSTED', message, { hint: hintFor('--max-minutes') });
}

function hintFor(flag: string): string {
  return `Raise ${flag} and run the same command again: it goes on from here.`;
}

function count(amount: number): string {
  return amount.toLocaleString('en-US');
}

/** Cents, or as many places as a smaller amount needs. */
function dollars(usd: number): string {
  return `$${usd >= 0.01 || usd === 0 ? usd.toFixed(2) : usd.toPrecision(2)}`;
}
