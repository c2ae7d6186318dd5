import { type Evidence, itemMean } from './evidence.ts';

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
  const flips: Flip[] = [];
  for (const [id, item] of candidate) {
    const before = incumbent.get(id);
    if (before === undefined || itemMean(before) < PASS_MARK || itemMean(item) >= PASS_MARK) continue;
    const isProtected = protectedItems.has(id);
    flips.push({ id, isProtected, rerolls: isProtected ? 5 : 3 });
  }
  return flips;
}

export type VetoInput = {
  readonly flips: readonly Flip[];
  /** The new rollouts alone: those that showed the flip are what is in doubt. */
  readonly incumbent: Evidence;
  readonly candidate: Evidence;
};

export type Veto = { readonly isVetoed: boolean; readonly regressions: readonly string[]; readonly reason: string };

/**
 * A flip counts if the incumbent passes every re-roll and the candidate fails most of its own. One protected item that counts
 * is a veto; of the others it takes two. An item with fewer re-rolls than asked for does not count.
 */
export function regressionVeto({ flips, incumbent, candidate }: VetoInput): Veto {
  const counted = flips.filter((flip) => isConfirmed(flip, incumbent, candidate));
  const guarded = counted.filter(({ isProtected }) => isProtected);
  const isVetoed = guarded.length >= 1 || counted.length >= 2;
  const regressions = counted.map(({ id }) => id);
  const named = regressions.length === 0 ? '' : `: ${regressions.join(', ')}`;
  return {
    isVetoed,
    regressions,
    reason: `${regressions.length} of ${flips.length} flips stood up to re-rolls${named}`,
  };
}

function isConfirmed({ id, rerolls }: Flip, incumbent: Evidence, candidate: Evidence): boolean {
  const [before, after] = [incumbent.get(id), candidate.get(id)];
  if (before === undefined || after === undefined) return false;
  if (before.count < rerolls || after.count < rerolls) return false;
  return before.sum >= before.count && itemMean(after) < PASS_MARK;
}
