import { SkillError } from '../../core/contracts/index.ts';
import type { Amounts, LimitName } from '../../core/run/index.ts';

export type { Amounts } from '../../core/run/index.ts';

/** A part of the limits that is kept back. */
export type KeptPart = {
  readonly amounts: Amounts;
  readonly minutes: number;
  /** What it is kept for, and what may not use it. */
  readonly purpose: string;
  readonly others: string;
  /** When it was first kept back. */
  readonly spentBefore: Amounts;
};

type Shortage = {
  readonly spent: Amounts;
  readonly bound: Amounts;
  readonly limits: Amounts;
  readonly kept?: KeptPart | undefined;
  readonly names?: LimitNames | undefined;
};

/** What the caller calls a limit, where that is another setting than a run's. */
export type LimitNames = Partial<Readonly<Record<keyof Amounts, string>>>;

/** In the unit of a limit: what is spent of it, what is kept back, and the most that the next call or attempt may take. */
type LimitNeed = { readonly spent: number; readonly kept: number; readonly bound: number };

type LimitWords = Pick<SkillError, 'message' | 'hint'> & { readonly need?: LimitNeed | undefined };

/** A limit that is used up. */
export class LimitReached extends SkillError {
  override readonly name: string = 'LimitReached';
  readonly limit: LimitName;
  /** No limit below the sum of these lets the next call pass. Nothing is known of minutes. */
  readonly need: LimitNeed | undefined;

  constructor(limit: LimitName, { message, hint, need }: LimitWords) {
    super('BUDGET_EXHAUSTED', message, hint === undefined ? {} : { hint });
    this.limit = limit;
    this.need = need;
  }
}

/** A limit that is reached while a part of it is kept back. */
export class ReserveShortage extends LimitReached {
  override readonly name = 'ReserveShortage';
  /** The same, told after `used` of the kept part went into what it was kept for, and `spent` is spent in all. */
  readonly afterUse: (spent: Amounts, used: Amounts) => LimitReached;

  constructor(told: LimitReached, afterUse: ReserveShortage['afterUse']) {
    super(told.limit, told);
    this.afterUse = afterUse;
  }
}

const keys = { calls: 'maxCalls', totalTokens: 'maxTotalTokens', costUsd: 'maxCostUsd' } as const;
const units = { calls: ' calls', totalTokens: ' tokens', costUsd: '' } as const;

/** Says which limit, what is spent of it, what is kept back, and what the next call could have cost. */
export function budgetExhausted(name: keyof Amounts, { spent, bound, limits, kept, names }: Shortage): LimitReached {
  const amount = (amounts: Amounts) => (name === 'costUsd' ? dollars(amounts[name]) : count(amounts[name]));
  const limit = { limit: keys[name], key: names?.[name] ?? keys[name] };
  const next = nextFact(name, bound, amount(bound));
  const isOne = name === 'calls' && limits.calls === 1;
  const [unit, are, were] = isOne ? [' call', 'is', 'was'] : [units[name], 'are', 'were'];
  const spending = `${amount(spent)} of ${amount(limits)}${unit}`;
  const need = (all: Amounts) => ({ spent: all[name], kept: kept?.amounts[name] ?? 0, bound: bound[name] });
  if (!kept || kept.amounts[name] === 0)
    return exhausted(limit, 'is reached', [`${spending} ${are} spent`, ...next], { need: need(spent) });
  const isBegun = spent[name] > kept.spentBefore[name];
  const what = isBegun ? 'is reached' : `leaves nothing for ${kept.others}`;
  const needs = `${amount(kept.amounts)}`;
  const facts = isBegun
    ? [`${spending} ${are} spent`, `${needs} are kept for ${kept.purpose}`, ...next]
    : [`${spending} ${were} spent before it`, `${kept.purpose} needs ${needs}`, ...next];
  // Of tokens and dollars the next start may keep more than this one did: it has not seen how long replies are.
  const isKnown = name === 'calls' || !isBegun;
  const least = (all: Amounts) =>
    isKnown
      ? leastLimit(name, [all, kept.amounts, name === 'calls' ? { ...bound, calls: bound.calls - 1 } : bound])
      : undefined;
  const afterUse: ReserveShortage['afterUse'] = (all, used) => {
    const rest = used[name] === kept.amounts[name] ? '' : `, for which ${needs} were kept`;
    const use = `${amount(used)} of them went into ${kept.purpose}${rest}`;
    const facts = [`${amount(all)} of ${amount(limits)}${unit} ${are} spent`, use];
    return exhausted(limit, what, facts, { least: least(all), need: need(all) });
  };
  const told = exhausted(limit, what, facts, { least: least(spent), need: need(spent) });
  return new ReserveShortage(told, (all, used) => (used[name] > 0 ? afterUse(all, used) : told));
}

/** One call more needs no words; the calls of an agent at one task do. */
function nextFact(name: keyof Amounts, bound: Amounts, most: string): string[] {
  if (name !== 'calls') return [`the next call may take up to ${most}`];
  return bound.calls > 1 ? [`the next attempt may take up to ${most}`] : [];
}

/** What is spent stays spent, and as much will be kept back again: no limit up to their sum lets another call pass. */
function leastLimit(name: keyof Amounts, parts: readonly Amounts[]): string {
  const sum = parts.reduce((total, part) => total + part[name], 0);
  return name === 'costUsd' ? dollars(Math.ceil(sum * 100 - 1e-6) / 100) : count(sum);
}

const MINUTES: NamedLimit = { limit: 'maxMinutes', key: 'maxMinutes' };

export function timeIsUp(maxMinutes: number, kept?: KeptPart): LimitReached {
  const all = `${count(maxMinutes)} minutes`;
  if (!kept || kept.minutes === 0) return exhausted(MINUTES, 'is reached', [`${count(maxMinutes)} of ${all} are over`]);
  const over = `${count(Math.max(0, maxMinutes - kept.minutes))} of ${all} are over`;
  const told = (end: string) => exhausted(MINUTES, 'is reached', [over, end]);
  const keeping = told(`${count(kept.minutes)} are kept for ${kept.purpose}`);
  return new ReserveShortage(keeping, () => told(`${kept.purpose} was made in the rest`));
}

/** A limit, and what the caller calls it. */
type NamedLimit = { readonly limit: LimitName; readonly key: string };

/** `least` is a limit that would still be too low, where one is known. */
type LimitDetails = { readonly least?: string | undefined; readonly need?: LimitNeed };

function exhausted(
  { limit, key }: NamedLimit,
  what: string,
  facts: readonly string[],
  { least, need }: LimitDetails = {},
) {
  const more = least === undefined ? '' : ` to more than ${least}`;
  return new LimitReached(limit, {
    message: `${key} ${what}: ${sentence(facts)}`,
    hint: `Raise ${key}${more} and start again: it resumes from here.`,
    need,
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
