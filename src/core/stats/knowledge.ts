import {
  addObservations,
  addWithin,
  type Evidence,
  isBinary,
  itemMean,
  noEvidence,
  type Observation,
  type WithinItems,
  withinItems,
} from './evidence.ts';
import { estimateNoise, type NoiseModel } from './noise-model.ts';
import { type Weighed, type WeighedItem, weighCandidate } from './weigh-candidate.ts';

/** What earlier skills have left behind of an item, in rollouts' worth. */
export type Inherited = { readonly sum: number; readonly count: number };

/** What is known of the current skill. */
export type Knowledge = {
  /** Rollouts of its very text. */
  readonly own: Evidence;
  /** What is believed of it besides: from its predecessors where it seems to change nothing, and where it was not rolled out. */
  readonly inherited: ReadonlyMap<string, Inherited>;
  /** From skills before it, of whatever was rolled out more than once. */
  readonly repeats: WithinItems;
};

export const noKnowledge: Knowledge = {
  own: noEvidence,
  inherited: new Map(),
  repeats: { squares: 0, freedom: 0 },
};

export function addOwn(knowledge: Knowledge, observations: Iterable<Observation>): Knowledge {
  return { ...knowledge, own: addObservations(knowledge.own, observations) };
}

/** All that is known of an item, own and inherited. */
export function knownOf({ own, inherited }: Knowledge, id: string): Inherited {
  const [mine, before] = [own.get(id) ?? NOTHING, inherited.get(id) ?? NOTHING];
  return { sum: mine.sum + before.sum, count: mine.count + before.count };
}

const NOTHING: Inherited = { sum: 0, count: 0 };

/** Items that the current skill was never rolled out on: they may not decide before it was. */
export function unmetItems({ own }: Knowledge, ids: readonly string[]): string[] {
  return ids.filter((id) => !own.has(id));
}

/** From here on two scores of an item differ. */
const DIFFERENCE = 0.2;

/**
 * Items on which a candidate and the current skill differ, and the latter has only one rollout to show. Before a winner is
 * taken it is rolled out there once more, whichever of the two is ahead: each may have been lucky once.
 */
export function disputedItems({ own }: Knowledge, observed: Evidence): string[] {
  return [...observed].flatMap(([id, seen]) => {
    const mine = own.get(id);
    const isDisputed = mine?.count === 1 && Math.abs(itemMean(seen) - mine.sum) > DIFFERENCE;
    return isDisputed ? [id] : [];
  });
}

export type WeighInput = {
  readonly knowledge: Knowledge;
  /** The candidate's rollouts. */
  readonly observed: Evidence;
  /** All items, met or not. */
  readonly ids: readonly string[];
};

export type WeighedKnowledge = Weighed & { readonly noise: NoiseModel };

/** A candidate's rollouts beside what is known of the current skill, as far as the noise that was seen lets them speak. */
export function weigh({ knowledge, observed, ids }: WeighInput): WeighedKnowledge {
  const noise = noiseOf({ knowledge, observed, ids });
  const items = ids.map((id): WeighedItem => {
    const own = knowledge.own.get(id);
    const seen = observed.get(id) ?? NOTHING;
    const known = knownOf(knowledge, id);
    return { ...known, own: own && own.sum / own.count, seenSum: seen.sum, seenCount: seen.count };
  });
  return { ...weighCandidate(items, noise), noise };
}

function noiseOf({ knowledge, observed, ids }: WeighInput): NoiseModel {
  const now = [knowledge.own, observed].map(withinItems);
  const repeats = [knowledge.repeats, ...now].reduce(addWithin);
  const kind = isBinary(knowledge.own, observed) ? 'binary' : 'graded';
  return estimateNoise({ kind, repeats, items: ids.map((id) => knownOf(knowledge, id)) });
}

/** Rollouts' worth of old knowledge that an item keeps at most, at least, and where the skill was not rolled out. */
const MOST_INHERITED = 4;
const LEAST_INHERITED = 0.3;

/**
 * What is known of a candidate that was taken: its own rollouts, and of what was known before as much as it is likely not
 * to have changed; together they say what is believed of it. A winner was also lucky, and its belief knows that.
 */
export function inherit({ knowledge, observed, ids }: WeighInput): Knowledge {
  const { untouched, believed } = weigh({ knowledge, observed, ids });
  const inherited = ids.map((id, place): [string, Inherited] => {
    const { count } = knownOf(knowledge, id);
    const kept = observed.has(id)
      ? Math.max(LEAST_INHERITED, untouched[place]! * Math.min(MOST_INHERITED, count))
      : LEAST_INHERITED;
    return [id, completing(observed.get(id) ?? NOTHING, believed[place]!, kept)];
  });
  const repeats = addWithin(knowledge.repeats, withinItems(knowledge.own));
  return { own: observed, inherited: new Map(inherited), repeats };
}

/** As many rollouts' worth that, with its own, the item has the score that is believed of it. */
function completing(own: Inherited, believed: number, count: number): Inherited {
  const sum = believed * (own.count + count) - own.sum;
  return { sum: Math.min(count, Math.max(0, sum)), count };
}

/** The mean score that is believed of the current skill, every item counting the same. */
export function believedScore(knowledge: Knowledge, ids: readonly string[]): number {
  const known = ids.map((id) => knownOf(knowledge, id)).filter(({ count }) => count > 0);
  return known.reduce((sum, item) => sum + item.sum / item.count, 0) / Math.max(1, known.length);
}
