import type { CurvePoint, RunFigures } from '../../core/page/index.ts';
import { count, dollars } from '../../core/text/index.ts';

/** A limit of a run, and how it was used up. */
export type Budget = {
  readonly what: string;
  readonly most: number;
  /** `null` where a run does not say it. */
  readonly spent: number | null;
  /** What was left at the start, after each step, and now; none where only the sum is known. */
  readonly course: readonly number[];
  /** For about how many steps more it lasts at the pace so far; `null` when that is not known. */
  readonly lasts: number | null;
  readonly amount: (value: number) => string;
};

type Kind = {
  readonly what: string;
  readonly spent?: (figures: RunFigures) => number;
  readonly after?: (point: CurvePoint) => number;
  readonly amount?: Budget['amount'];
};

const KINDS: Readonly<Record<string, Kind>> = {
  maxCalls: { what: 'calls', spent: ({ cost }) => cost.total.calls, after: ({ calls }) => calls },
  maxTotalTokens: { what: 'tokens', spent: ({ cost }) => cost.total.tokens, after: ({ tokens }) => tokens },
  maxCostUsd: {
    what: 'dollars',
    spent: ({ cost }) => cost.total.costUsd,
    after: ({ costUsd }) => costUsd,
    amount: (value) => `$${dollars(value)}`,
  },
  maxMinutes: { what: 'minutes', spent: ({ summary }) => summary.totalWallTimeS / 60, amount: minutes },
  maxRollouts: { what: 'rollouts' },
};

/** A short run takes less than a minute. */
function minutes(value: number): string {
  return value < 10 ? value.toFixed(1).replace(/\.0$/, '') : count(Math.round(value));
}

export function budgetsOf(figures: RunFigures): Budget[] {
  return Object.entries(figures.about.limits).map(([limit, most]) => {
    const {
      what,
      spent,
      after,
      amount = (value: number) => count(Math.round(value)),
    } = KINDS[limit] ?? { what: limit };
    const used = spent?.(figures) ?? null;
    const course =
      after && used !== null ? [0, ...figures.curve.map(after), used].map((at) => Math.max(0, most - at)) : [];
    return { what, most, spent: used, course, lasts: lastsFor(figures.curve, most - (used ?? 0), after), amount };
  });
}

/** By the steps alone: the first skill is measured once. */
function lastsFor(curve: readonly CurvePoint[], left: number, after: Kind['after']): number | null {
  const [first, last] = [curve[0], curve.at(-1)];
  if (!after || !first || !last || first === last) return null;
  const pace = (after(last) - after(first)) / (curve.length - 1);
  return pace > 0 && left > 0 ? Math.floor(left / pace) : null;
}

const NEARLY = 0.9;

/** Whether it holds, in a word. */
export function standingOf({ spent, most }: Pick<Budget, 'spent' | 'most'>): 'within' | 'nearly' | 'used' {
  if (spent !== null && spent >= most) return 'used';
  return spent !== null && spent >= NEARLY * most ? 'nearly' : 'within';
}
