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
  /** The same of fresh tasks. */
  readonly fresh: { readonly error: number; readonly covers: boolean };
  readonly lines: Lines;
};

/** Lines that the shipped document has more than the seed; copies are useless too. */
export type Lines = { readonly added: number; readonly useless: number; readonly copied: number };

export type Reported = {
  readonly value: number;
  readonly interval?: { readonly low: number; readonly high: number };
};

/** What is true of a shipped document, and what was said of it. */
export function outcomeOf(world: FamilyWorld, shipped: FamilySkill, { value, interval }: Reported): Outcome {
  const [truth, freshTruth] = [world.truth(shipped), world.freshTruth(shipped)];
  const covers = (score: number) => interval !== undefined && interval.low <= score && score <= interval.high;
  return {
    gain: freshTruth - world.freshTruth(world.seedSkill),
    error: value - truth,
    covers: covers(truth),
    fresh: { error: value - freshTruth, covers: covers(freshTruth) },
    lines: countLines(shipped, world.spec.isNull),
  };
}

function countLines({ edits }: FamilySkill, isNull: boolean): Lines {
  const lines = edits.filter(({ type }) => type !== 'clash');
  const useful = isNull ? [] : lines.filter(({ type }) => type === 'good');
  return { added: lines.length, useless: lines.length - useful.length, copied: lines.filter(isCopy).length };
}
