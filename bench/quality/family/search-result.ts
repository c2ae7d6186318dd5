import { type FamilySkill, type FamilyWorld, isCopy } from './world.ts';

/** What came of one run of a search. Scores are from 0 to 1. */
export type SearchResult = Outcome & {
  readonly claims: boolean;
  /** By what they truly did to the validation tasks: the ones that the gate decides about. */
  readonly accepted: { readonly good: number; readonly null: number; readonly harmful: number };
  /** Sum over accepts of believed minus true score right after them, and how many there were. */
  readonly believedError: number;
  readonly accepts: number;
};

type Outcome = {
  /** On fresh tasks. */
  readonly gain: number;
  /** Reported minus true score of the measured tasks, and whether the reported interval holds that one. */
  readonly error: number;
  readonly covers: boolean;
  /** Reported minus true gain of fresh tasks, and whether the interval of the gain holds that. Not where the seed ships. */
  readonly fresh?: { readonly error: number; readonly covers: boolean };
  readonly lines: Lines;
};

/** Lines that the shipped document has more than the seed; copies are useless too. */
export type Lines = { readonly added: number; readonly useless: number; readonly copied: number };

export type Reported = {
  /** Not where the seed ships. */
  readonly gain?: Pick<Reported, 'value' | 'interval'>;
  /** The validation tasks that it is about, if not all. */
  readonly places?: readonly number[];
  readonly value: number;
  readonly interval?: { readonly low: number; readonly high: number };
};

/** What is true of a shipped document, and what was said of it. */
export function outcomeOf(
  world: FamilyWorld,
  shipped: FamilySkill,
  { value, interval, places, gain: said }: Reported,
): Outcome {
  const [truth, freshTruth] = [world.truth(shipped, places), world.freshTruth(shipped)];
  const gain = freshTruth - world.freshTruth(world.seedSkill);
  return {
    gain,
    error: value - truth,
    covers: holds(interval, truth),
    ...(said ? { fresh: { error: said.value - gain, covers: holds(said.interval, gain) } } : {}),
    lines: countLines(shipped, world.spec.isNull),
  };
}

const holds = (interval: Reported['interval'], truth: number) =>
  interval !== undefined && interval.low <= truth && truth <= interval.high;

function countLines({ edits }: FamilySkill, isNull: boolean): Lines {
  const lines = edits.filter(({ type }) => type !== 'clash');
  const useful = isNull ? [] : lines.filter(({ type }) => type === 'good');
  return { added: lines.length, useless: lines.length - useful.length, copied: lines.filter(isCopy).length };
}
