import { type Evidence, isMissing, itemMean, type Observation } from './evidence.ts';

/** An item passes from this mean on. */
const PASS_MARK = 0.5;

export type FlipInput = {
  readonly incumbent: Evidence;
  readonly candidate: Evidence;
  /** Items that must not get worse. */
  readonly protectedItems?: ReadonlySet<string>;
};

/** An item that passed and now fails, and how often either side has to roll it again before that counts. */
export type Flip = { readonly id: string; readonly isProtected: boolean; readonly rerolls: number };

/** One flip is mostly chance: at 40 items a do-nothing edit shows about five. So every one of them is asked again. */
export function findFlips({ incumbent, candidate, protectedItems = new Set() }: FlipInput): Flip[] {
  const passed = [...incumbent].filter(([, item]) => itemMean(item) >= PASS_MARK).map(([id]) => id);
  const isLost = (id: string) => {
    const now = candidate.get(id);
    return now === undefined ? protectedItems.has(id) : itemMean(now) < PASS_MARK; // without a result nothing is cleared
  };
  return passed.filter(isLost).map((id) => {
    const isProtected = protectedItems.has(id);
    return { id, isProtected, rerolls: isProtected ? 5 : 3 };
  });
}

export type VetoInput = {
  readonly flips: readonly Flip[];
  /** The new rollouts alone: those that showed the flip are what is in doubt. */
  readonly incumbent: readonly Observation[];
  readonly candidate: readonly Observation[];
};

export type Veto = { readonly isVetoed: boolean; readonly regressions: readonly string[]; readonly reason: string };

/**
 * A flip counts if the incumbent passes every re-roll and the candidate fails most of its own. One protected item that counts
 * is a veto; of the others it takes two. An item with fewer re-rolls than asked for does not count, unless it is protected
 * and the candidate has no result at all.
 */
export function regressionVeto({ flips, incumbent, candidate }: VetoInput): Veto {
  const [before, after] = [countPasses(incumbent), countPasses(candidate)];
  const counted = flips.filter((flip) => isConfirmed(flip, before.get(flip.id), after.get(flip.id)));
  const isVetoed = counted.length >= 2 || counted.some(({ isProtected }) => isProtected);
  const regressions = counted.map(({ id }) => id);
  const named = regressions.length === 0 ? '' : `: ${regressions.join(', ')}`;
  return {
    isVetoed,
    regressions,
    reason: `${regressions.length} of ${flips.length} flips stood up to re-rolls${named}`,
  };
}

type Passes = { readonly passed: number; readonly count: number };

function countPasses(observations: readonly Observation[]): ReadonlyMap<string, Passes> {
  const passes = new Map<string, Passes>();
  for (const { id, score } of observations) {
    if (isMissing(score)) continue;
    const { passed, count } = passes.get(id) ?? { passed: 0, count: 0 };
    passes.set(id, { passed: passed + Number(score >= PASS_MARK), count: count + 1 });
  }
  return passes;
}

function isConfirmed({ isProtected, rerolls }: Flip, before: Passes | undefined, after: Passes | undefined): boolean {
  if (before === undefined || before.count < rerolls || before.passed < before.count) return false;
  if (after === undefined) return isProtected;
  return after.count >= rerolls && after.passed < after.count / 2;
}
