import {
  addObservations,
  type Evidence,
  type ItemEvidence,
  isMissing,
  itemMean,
  MAX_MISSING_SHARE,
  noEvidence,
  type Observation,
  shareText,
} from './evidence.ts';
import { PASS_MARK } from './final-report.ts';
import { type Knowledge, type WeighedKnowledge, weigh } from './knowledge.ts';
import { type Bar, barFor, DEFAULT_BATCH_SIZE, type RaceSettings, raceSettings } from './race.ts';

export type Verdict = 'accept' | 'reject' | 'inconclusive' | 'invalid';

/** `missing` are items without a result: at most `maxMissingShare` of all, or a fifth. */
export type WaveInput = {
  readonly knowledge: Knowledge;
  readonly observed: Evidence;
  readonly missing?: readonly string[];
  readonly maxMissingShare?: number;
  readonly remaining: readonly string[];
  readonly settings?: RaceSettings;
  readonly isSecondPass?: boolean;
  /** No rollouts are left for the rest: what was seen decides. */
  readonly isLast?: boolean;
  /** The candidate says less: it wins where it is not worse, once all items were met. */
  readonly isShorter?: boolean;
  /** What a winner of a small set must be ahead by, in items. */
  readonly leastLead?: number;
};

/** Items that moved one way, and by how much together. */
export type Movement = { readonly items: readonly string[]; readonly sum: number };

export type WaveJudgement = {
  /** `continue` with no item remaining asks for a second pass over all of them. */
  readonly verdict: Verdict | 'continue';
  /** The expected mean gain over all items, in score units, and the chance of any gain. */
  readonly expectedGain: number;
  readonly chance: number;
  /** Mean of candidate − current skill over the items that have both, in score units. */
  readonly meanGain: number;
  readonly gains: Movement;
  readonly regressions: Movement;
  readonly reason: string;
  readonly needs?: { readonly rollouts: number; readonly power: number };
};

/**
 * The default gate after a wave: what a candidate is expected to gain decides, and what a closer look would cost.
 * A function of its input alone, so that a decision can be recomputed from its record.
 */
export function judgeWave(input: WaveInput): WaveJudgement {
  const { knowledge, observed, missing = [], remaining } = input;
  const ids = [...observed.keys(), ...missing, ...remaining];
  const weighed = weigh({ knowledge, observed, ids });
  const moved = movements(knowledge.own, observed);
  const standing = { ...input, weighed, ids, met: moved.met, missing: missing.length };
  return {
    expectedGain: weighed.gain / Math.max(1, ids.length),
    chance: weighed.chance,
    meanGain: moved.met === 0 ? 0 : weighed.lead / moved.met,
    gains: moved.gains,
    regressions: moved.regressions,
    ...decide(standing),
  };
}

export function settingsFor(knowledge: Knowledge, ids: readonly string[], batchSize: number): RaceSettings {
  const { upside } = weigh({ knowledge, observed: new Map(), ids });
  return raceSettings({ n: ids.length, batchSize, upside });
}

function movements(own: Evidence, observed: Evidence) {
  const gains = { items: [] as string[], sum: 0 };
  const regressions = { items: [] as string[], sum: 0 };
  let met = 0;
  for (const [id, item] of observed) {
    const before = own.get(id);
    if (before === undefined) continue;
    met += 1;
    const change = itemMean(item) - itemMean(before);
    if (change === 0) continue;
    const side = change > 0 ? gains : regressions;
    side.items.push(id);
    side.sum += change;
  }
  return { met, gains, regressions };
}

type Standing = Omit<WaveInput, 'missing'> & {
  readonly weighed: WeighedKnowledge;
  readonly ids: readonly string[];
  readonly met: number;
  readonly missing: number;
};

type Decision = Pick<WaveJudgement, 'verdict' | 'reason' | 'needs'>;

function decide(standing: Standing): Decision {
  const { missing, met, ids, remaining, weighed, knowledge, maxMissingShare = MAX_MISSING_SHARE } = standing;
  if (missing > maxMissingShare * ids.length) {
    const reason = `${missing} of ${ids.length} items gave no result; at most ${shareText(maxMissingShare)} may be missing`;
    return { verdict: 'invalid', reason };
  }
  if (met === 0) {
    if (remaining.length === 0) return { verdict: 'invalid', reason: 'no item has a result on both sides' };
    return { verdict: 'continue', reason: 'nothing to compare yet' };
  }
  const settings = standing.settings ?? settingsFor(knowledge, ids, DEFAULT_BATCH_SIZE);
  const usual = barFor(weighed.noise, ids.length, standing.isShorter ? 1 : standing.leastLead);
  const bar = standing.isShorter ? { lead: -usual.lead, gain: -TOLERANCE * usual.lead } : usual;
  const isAhead = weighed.gain >= bar.gain && weighed.lead >= bar.lead;
  return remaining.length > 0 && !standing.isLast
    ? decideEarly(standing, settings, isAhead)
    : decideAtEnd(standing, settings, bar, isAhead);
}

/** What a shorter skill may be expected to lose, in items of a set of forty: so a line that changes nothing goes. */
const TOLERANCE = 0.3;

/** A first look ends a race if the rest is not worth its price. */
function decideEarly(standing: Standing, { price }: RaceSettings, isAhead: boolean): Decision {
  const { weighed, remaining, ids, isShorter = false } = standing;
  const worth = price * remaining.length;
  const reason = `${figures(weighed, ids.length)} after ${ids.length - remaining.length} of ${ids.length} items`;
  if (isAhead && isShorter) return { verdict: 'continue', reason }; // what it leaves out may be for the others
  if (isAhead && weighed.downside < EARLY_SHARE * worth) return { verdict: 'accept', reason };
  if (!isAhead && weighed.upside <= worth) return { verdict: lost(weighed), reason };
  return { verdict: 'continue', reason };
}

/** To win early takes more than to lose early: what is accepted stays. */
const EARLY_SHARE = 0.3;

function decideAtEnd(standing: Standing, settings: RaceSettings, bar: Bar, isAhead: boolean): Decision {
  const { weighed, ids, remaining, isSecondPass = false, isLast = false } = standing;
  const met = ids.length - remaining.length;
  const reason = `${figures(weighed, ids.length)}${isLast ? ` after ${met} of ${ids.length} items: no rollouts are left` : ''}`;
  const doubt = isAhead ? weighed.downside : weighed.upside;
  const isWorthAPass = doubt > settings.price * ids.length && weighed.lead > -bar.lead;
  if (!isSecondPass && !isLast && settings.hasSecondPass && isWorthAPass) {
    return { verdict: 'continue', reason: `${reason}; a second pass decides` };
  }
  if (isAhead && !(isLast && standing.isShorter)) return { verdict: 'accept', reason };
  if (lost(weighed) === 'reject') return { verdict: 'reject', reason };
  return { verdict: 'inconclusive', reason, ...needsOf(standing) };
}

/** Below this chance of a gain a candidate is rejected; above it the result is inconclusive. */
const SMALL_CHANCE = 0.1;
const lost = ({ chance }: WeighedKnowledge) => (chance < SMALL_CHANCE ? 'reject' : 'inconclusive') as Verdict;

function figures({ gain, chance }: WeighedKnowledge, n: number): string {
  const points = (100 * gain) / Math.max(1, n);
  const sign = points < 0 ? '−' : '+';
  return `expected ${sign}${Math.abs(points).toFixed(1)} points, chance of a gain ${(100 * chance).toFixed(0)} %`;
}

const POWER = 0.8;

/** Rollouts until the expected gain is 0.84 deviations of the noise; at least one more pass. */
function needsOf({ weighed, ids, observed }: Standing): Pick<Decision, 'needs'> {
  if (weighed.gain <= 0) return {};
  const deviation = Math.sqrt(2 * weighed.noise.within * ids.length);
  const made = [...observed.values()].reduce((sum, { count }) => sum + count, 0);
  const passes = (0.84 * deviation) ** 2 / weighed.gain ** 2;
  const rollouts = Math.min(Number.MAX_SAFE_INTEGER, Math.max(ids.length, Math.ceil(passes * ids.length - made)));
  return { needs: { rollouts, power: POWER } };
}

export type FlipInput = {
  readonly incumbent: Evidence;
  readonly candidate: Evidence;
  readonly protectedItems?: ReadonlySet<string>;
};

/** An item that passed and now fails, and how often each side must be rolled out again. */
export type Flip = { readonly id: string; readonly isProtected: boolean; readonly rerolls: number };

/** One flip is mostly chance: at 40 items an edit without effect shows about five. So each is rolled out again. */
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
  /** The new rollouts alone, without those that showed the flip. */
  readonly incumbent: readonly Observation[];
  readonly candidate: readonly Observation[];
};

export type Veto = { readonly isVetoed: boolean; readonly regressions: readonly string[]; readonly reason: string };

/**
 * A flip counts if the incumbent passes every re-roll and the candidate fails most of its own. Two that count are a veto, or
 * a protected one. An item with too few re-rolls does not count, unless it is protected and the candidate has no result.
 */
export function regressionVeto({ flips, incumbent, candidate }: VetoInput): Veto {
  const [before, after] = [countPasses(incumbent), countPasses(candidate)];
  const counted = flips.filter((flip) => isConfirmed(flip, before.get(flip.id), after.get(flip.id)));
  const isVetoed = counted.length >= 2 || counted.some(({ isProtected }) => isProtected);
  const regressions = counted.map(({ id }) => id);
  const named = regressions.length === 0 ? '' : `: ${regressions.join(', ')}`;
  const reason = `${regressions.length} of ${flips.length} flips stood up to re-rolls${named}`;
  return { isVetoed, regressions, reason };
}

const countPasses = (observations: readonly Observation[]) =>
  addObservations(
    noEvidence,
    observations.map(({ id, score }) => ({ id, score: isMissing(score) ? null : Number(score >= PASS_MARK) })),
  );

function isConfirmed({ isProtected, rerolls }: Flip, before?: ItemEvidence, after?: ItemEvidence): boolean {
  if (before === undefined || before.count < rerolls || before.sum < before.count) return false;
  if (after === undefined) return isProtected;
  return after.count >= rerolls && after.sum < after.count / 2;
}
