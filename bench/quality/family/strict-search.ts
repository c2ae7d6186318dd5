import {
  addObservations,
  type Evidence,
  exactRace,
  finalReport,
  hardestFirst,
  noEvidence,
  startable,
} from '../../../src/public/stats.ts';
import { shuffleIndexes } from '../gate/dice.ts';
import { batchesOf } from './batches.ts';
import type { Lab } from './lab.ts';
import type { Tried } from './optimizer.ts';
import { outcomeOf, type SearchResult } from './search-result.ts';
import type { FamilySkill } from './world.ts';

const [BATCH, MINIBATCH, READINGS, EDITS, REMEMBERED, IN_FLIGHT] = [40, 5, 3, 4, 8, 8];

/**
 * The default search with `gate: strict` and `racing: exact`: better than one number is better, and a race stops as soon as
 * that is certain. The winner is measured at the end as in ours.
 */
export function searchStrictly(lab: Lab): SearchResult {
  const { world, dice } = lab;
  const { n, train, budget } = world.spec;
  const finalPasses = 0.12 * budget >= 3 * n ? 2 : 1;
  const left = () => lab.left() - finalPasses * n;
  const ids = Array.from({ length: n }, (_, place) => `${place}`);
  const batchSize = Math.min(BATCH, train);
  const accepted = { good: 0, null: 0, harmful: 0 };
  const memory: Tried[] = [];
  const batches = batchesOf(train, batchSize, dice);
  let skill = world.seedSkill;
  let seen: Evidence = noEvidence;
  let bar = meanOf(roll(skill, ids));
  const seed = seen;
  let tasks: number[] = [];
  let readings = 0;
  for (
    let idle = 0, spent = lab.left();
    idle < MOST_IDLE;
    idle = lab.left() < spent ? 0 : idle + 1, spent = lab.left()
  ) {
    const isReadAgain = readings > 0 && readings < READINGS && lab.trainCost(skill, tasks) === 0;
    if (!isReadAgain) [tasks, readings] = [batches.next().value!.tasks, 0];
    if (left() < lab.trainCost(skill, tasks) + n) break;
    readings++;
    const results = lab.train(skill, tasks, true);
    const { edits } = lab.ask({
      skill,
      ...results,
      minibatch: MINIBATCH,
      limit: EDITS,
      memory: memory.slice(-REMEMBERED),
    });
    const chosen = edits.filter(({ key, type }) => !skill.keys.has(key) && type !== 'copy').slice(0, EDITS);
    if (chosen.length === 0) continue;
    const candidate = world.apply(skill, chosen);
    const reached = raceExactly(candidate);
    if (reached === undefined) memory.push({ edits: chosen, status: 'rejected' });
    else take(candidate, reached);
  }
  const measured = Array.from({ length: finalPasses }, () => ids).flat();
  const fresh = addObservations(noEvidence, observe(measured, lab.roll(skill, measured.map(Number))));
  const { score, gain, isClaimed, isSeedBetter } = finalReport({ fresh, seed, isSeed: skill === world.seedSkill });
  const shipped = isSeedBetter ? world.seedSkill : skill;
  return {
    ...outcomeOf(world, shipped, { ...score!, ...(gain && !isSeedBetter ? { gain } : {}) }),
    claims: isClaimed,
    accepted,
    believedError: 0,
    accepts: 0,
  };

  function roll(of: FamilySkill, wanted: readonly string[]): number[] {
    const scores = lab.roll(of, wanted.map(Number));
    seen = addObservations(seen, observe(wanted, scores));
    return scores;
  }

  /** The candidate's score if it is better; its race ends when it cannot be any more. */
  function raceExactly(candidate: FamilySkill): number | undefined {
    const order = hardestFirst(
      shuffleIndexes(dice, n).map((place) => ids[place]!),
      seen,
    );
    const scores: number[] = [];
    for (let met = 0; met < n; met++) {
      const input = { bar, finished: scores.slice(0, met), isPlainMean: true };
      if (exactRace({ ...input, remaining: n - met }).state === 'cannot-win') return undefined;
      const more = startable({ ...input, inFlight: scores.length - met, waiting: n - scores.length, limit: IN_FLIGHT });
      if (more > 0) scores.push(...roll(candidate, order.slice(scores.length, scores.length + more)));
    }
    return meanOf(scores) > bar ? meanOf(scores) : undefined;
  }

  function take(candidate: FamilySkill, reached: number): void {
    const change = world.truth(candidate) - world.truth(skill);
    accepted[change > 1e-9 ? 'good' : change < -1e-9 ? 'harmful' : 'null']++;
    [skill, bar] = [candidate, reached];
  }
}

/** Steps in a row that need no rollout: an epoch of them ends a run. */
const MOST_IDLE = 12;

const observe = (ids: readonly string[], scores: readonly number[]) =>
  scores.map((score, place) => ({ id: ids[place]!, score }));

const meanOf = (scores: readonly number[]) => scores.reduce((sum, score) => sum + score, 0) / scores.length;
