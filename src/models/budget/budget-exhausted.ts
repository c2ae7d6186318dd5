import { SkillError } from '../../core/contracts/index.ts';
import type { Amounts, LimitName } from '../../core/run/index.ts';

/** A part of the limits that is kept back. */
export type KeptPart = {
  readonly amounts: Amounts;
  readonly minutes: number;
  /** What it is kept for, and what may not use it. */
  readonly purpose: string;
  readonly others: string;
  /** What was spent when it was first kept back. */
  readonly spentBefore: Amounts;
};

/** The caller's names of limits that are not settings of a run. */
export type LimitNames = Partial<Readonly<Record<keyof Amounts, string>>>;

/** In the unit of a limit: what is spent, what is kept back, and the most that the next call or attempt may take. */
type LimitNeed = { readonly spent: number; readonly kept: number; readonly bound: number };

type LimitWords = Pick<SkillError, 'message' | 'hint'> & { readonly need?: LimitNeed | undefined };

/** A limit that is used up. */
export class LimitReached extends SkillError {
  override readonly name: string = 'LimitReached';
  readonly limit: LimitName;
  /** No limit below the sum of these lets the next call pass. Unknown for minutes. */
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
  /** The error to show once `used` of the kept part was spent on its purpose, and `spent` is spent in all. */
  readonly afterUse: (spent: Amounts, used: Amounts) => LimitReached;

  constructor(before: LimitReached, afterUse: ReserveShortage['afterUse']) {
    super(before.limit, before);
    this.afterUse = afterUse;
  }
}

type Shortage = {
  readonly spent: Amounts;
  readonly bound: Amounts;
  readonly limits: Amounts;
  readonly kept?: KeptPart | undefined;
  readonly names?: LimitNames | undefined;
};

const keys = { calls: 'maxCalls', totalTokens: 'maxTotalTokens', costUsd: 'maxCostUsd' } as const;
const units = { calls: ' calls', totalTokens: ' tokens', costUsd: '' } as const;

/** Says which limit is reached, what is spent of it, what is kept back, and what the next call could have cost. */
export function budgetExhausted(name: keyof Amounts, { spent, bound, limits, kept, names }: Shortage): LimitReached {
  const amount = (amounts: Amounts) => (name === 'costUsd' ? dollars(amounts[name]) : count(amounts[name]));
  const isOne = name === 'calls' && limits.calls === 1;
  const [unit, are, were] = isOne ? [' call', 'is', 'was'] : [units[name], 'are', 'were'];
  const spending = (all: Amounts) => `${amount(all)} of ${amount(limits)}${unit}`;
  const next = nextFact(name, bound, amount(bound));
  const reached = (
    all: Amounts,
    facts: readonly string[],
    more: { what?: string; least?: string | undefined } = {},
  ) => {
    const need = { spent: all[name], kept: kept?.amounts[name] ?? 0, bound: bound[name] };
    return limitReached(keys[name], facts, { key: names?.[name], need, ...more });
  };
  if (!kept || kept.amounts[name] === 0) return reached(spent, [`${spending(spent)} ${are} spent`, ...next]);
  const isBegun = spent[name] > kept.spentBefore[name];
  const what = isBegun ? 'is reached' : `leaves nothing for ${kept.others}`;
  const needs = amount(kept.amounts);
  const facts = isBegun
    ? [`${spending(spent)} ${are} spent`, `${needs} are kept for ${kept.purpose}`, ...next]
    : [`${spending(spent)} ${were} spent before it`, `${kept.purpose} needs ${needs}`, ...next];
  // Not for tokens and dollars of a run that has begun: the next start has not seen how long replies are, and may keep more.
  const isKnown = name === 'calls' || !isBegun;
  const least = (all: Amounts) => (isKnown ? leastLimit(name, all[name] + kept.amounts[name], bound) : undefined);
  const before = reached(spent, facts, { what, least: least(spent) });
  return new ReserveShortage(before, (all, used) => {
    if (used[name] <= 0) return before;
    const rest = used[name] === kept.amounts[name] ? '' : `, for which ${needs} were kept`;
    const use = `${amount(used)} of them went into ${kept.purpose}${rest}`;
    return reached(all, [`${spending(all)} ${are} spent`, use], { what, least: least(all) });
  });
}

/** The last call of a limit needs no words; the calls of an agent at one task do. */
function nextFact(name: keyof Amounts, bound: Amounts, most: string): string[] {
  if (name !== 'calls') return [`the next call may take up to ${most}`];
  return bound.calls > 1 ? [`the next attempt may take up to ${most}`] : [];
}

/** What is spent stays spent, and as much will be kept back again: no limit up to their sum lets another call pass. */
function leastLimit(name: keyof Amounts, taken: number, bound: Amounts): string {
  const sum = taken + (name === 'calls' ? bound.calls - 1 : bound[name]);
  return name === 'costUsd' ? dollars(Math.ceil(sum * 100 - 1e-6) / 100) : count(sum);
}

export function timeIsUp(maxMinutes: number, kept?: KeptPart): LimitReached {
  const over = (minutes: number) => `${count(minutes)} of ${count(maxMinutes)} minutes are over`;
  if (!kept || kept.minutes === 0) return limitReached('maxMinutes', [over(maxMinutes)]);
  const ended = (end: string) => limitReached('maxMinutes', [over(Math.max(0, maxMinutes - kept.minutes)), end]);
  const before = ended(`${count(kept.minutes)} are kept for ${kept.purpose}`);
  return new ReserveShortage(before, () => ended(`${kept.purpose} was made in the rest`));
}

type LimitDetails = {
  /** The caller's name of the limit. */
  readonly key?: string | undefined;
  readonly what?: string;
  /** A limit that would still be too low, where one is known. */
  readonly least?: string | undefined;
  readonly need?: LimitNeed;
};

function limitReached(limit: LimitName, facts: readonly string[], details: LimitDetails = {}): LimitReached {
  const { key = limit, what = 'is reached', least, need } = details;
  const more = least === undefined ? '' : ` to more than ${least}`;
  return new LimitReached(limit, {
    message: `${key} ${what}: ${sentence(facts)}`,
    hint: `Raise ${key}${more} and start again: it resumes from here.`,
    need,
  });
}

const sentence = (facts: readonly string[]): string =>
  facts.length === 1 ? facts[0]! : `${facts.slice(0, -1).join(', ')}, and ${facts.at(-1)}`;

const count = (amount: number): string => amount.toLocaleString('en-US');

/** Cents, or as many places as a smaller amount needs. */
const dollars = (usd: number): string => `$${usd >= 0.01 || usd === 0 ? usd.toFixed(2) : usd.toPrecision(2)}`;
