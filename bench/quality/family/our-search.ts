import {
  addObservations,
  addOwn,
  believedScore,
  type Evidence,
  finalReport,
  inherit,
  type Knowledge,
  noEvidence,
  noKnowledge,
} from '../../../src/public/stats.ts';
import { shuffleIndexes } from '../gate/dice.ts';
import { race } from '../race.ts';
import { batchesOf } from './batches.ts';
import type { Lab } from './lab.ts';
import type { Tried } from './optimizer.ts';
import { outcomeOf, type SearchResult } from './search-result.ts';
import type { FamilyEdit, FamilySkill } from './world.ts';

const [BATCH, MINIBATCH, READINGS, EDITS, QUIET_STEPS, REMEMBERED] = [40, 5, 3, 4, 3, 8];
/** What a run may ask of the optimizer, beside what the naive peer asks. */
const MOST_ASKED = 2;

/** The default: a batch is read until something comes of it, what was seen decides, and what rides along is taken out again. */
export function searchOurWay(lab: Lab): SearchResult {
  const { world, dice } = lab;
  const { n, train, budget } = world.spec;
  const ids = Array.from({ length: n }, (_, i) => `${i}`);
  const batchSize = Math.min(BATCH, train);
  const finalPasses = 0.12 * budget >= 3 * n ? 2 : 1;
  const roll = (of: FamilySkill) => (wanted: readonly string[]) =>
    lab.roll(of, wanted.map(Number)).map((score, place) => ({ id: wanted[place]!, score }));
  const shuffled = () => shuffleIndexes(dice, n).map((place) => ids[place]!);
  const again = Math.max(0, Math.min(n, Math.floor(0.15 * budget) - n));
  let skill = world.seedSkill;
  const baseline = lab.together(() => [...roll(skill)(ids), ...roll(skill)(shuffled().slice(0, again))]);
  let knowledge: Knowledge = addOwn(noKnowledge, baseline);
  let seed = knowledge.own;
  const accepted = { good: 0, null: 0, harmful: 0 };
  let [believedError, accepts, asked, readings, quiet] = [0, 0, 0, 0, 0];
  const memory: Tried[] = [];
  const mostAsked = MOST_ASKED * Math.max(1, Math.floor((budget - n) / (BATCH + n)));
  const left = () => lab.left() - finalPasses * n;
  const batches = batchesOf(train, batchSize, dice);
  const halves: FamilyEdit[][] = [];
  const single: FamilyEdit[][] = [];
  let tasks: number[] = [];
  while (asked < mostAsked) {
    if (quiet >= QUIET_STEPS && left() >= n) {
      const suspect = nextSuspect();
      if (suspect) tryCandidate(world.remove(skill, suspect));
      quiet = QUIET_STEPS - 1;
      if (suspect) continue;
    }
    const isReadAgain = readings > 0 && readings < READINGS && lab.trainCost(skill, tasks) === 0;
    if (!isReadAgain) [tasks, readings] = [batches.next().value!.tasks, 0];
    if (left() < lab.trainCost(skill, tasks) + Math.min(n, 20)) break;
    readings++;
    asked++;
    const results = lab.train(skill, tasks, true);
    const shown = memory.slice(-REMEMBERED);
    const { edits } = lab.ask({ skill, ...results, minibatch: MINIBATCH, limit: EDITS, memory: shown });
    const chosen = edits.filter(({ key }) => !skill.keys.has(key)).slice(0, EDITS);
    quiet += edits.length <= EDITS ? QUIET_STEPS : 1;
    if (chosen.length === 0) continue;
    const verdict = tryCandidate(world.apply(skill, chosen));
    if (verdict !== 'accept') {
      memory.push({ edits: chosen, status: verdict === 'reject' ? 'rejected' : 'undecided' });
      continue;
    }
    quiet = 0;
    if (chosen.length > 1) {
      halves.push(chosen.slice(Math.ceil(chosen.length / 2)));
      single.push(...chosen.toReversed().map((edit) => [edit]));
    }
  }
  const measured = Array.from({ length: finalPasses }, () => ids).flat();
  const fresh = addObservations(noEvidence, roll(skill)(measured));
  const { score, isClaimed, isSeedBetter } = finalReport({ fresh, seed, isSeed: skill === world.seedSkill });
  return {
    ...outcomeOf(world, isSeedBetter ? world.seedSkill : skill, score!),
    claims: isClaimed,
    accepted,
    believedError,
    accepts,
  };

  /** First what each accepted step has ranked last, then one edit after the other, the latest step first. */
  function nextSuspect(): FamilyEdit[] | undefined {
    const suspect = halves.pop() ?? single.pop();
    if (!suspect) return undefined;
    return suspect.every(({ key }) => skill.keys.has(key)) ? suspect : nextSuspect();
  }

  function tryCandidate(candidate: FamilySkill): string {
    const sides = { candidate: roll(candidate), current: roll(skill) };
    const raced = race({ knowledge, ids: shuffled(), batchSize, ...sides, left, together: lab.together });
    knowledge = raced.knowledge;
    if (skill === world.seedSkill) seed = knowledge.own;
    if (raced.verdict === 'accept') take(candidate, raced.observed);
    return raced.verdict;
  }

  function take(candidate: FamilySkill, observed: Evidence): void {
    const change = world.truth(candidate) - world.truth(skill);
    accepted[change > 1e-9 ? 'good' : change < -1e-9 ? 'harmful' : 'null']++;
    knowledge = inherit({ knowledge, observed, ids });
    skill = candidate;
    believedError += believedScore(knowledge, ids) - world.truth(skill);
    accepts++;
  }
}
