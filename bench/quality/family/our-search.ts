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
  planWaves,
} from '../../../src/public/stats.ts';
import { affordableSize } from '../../../src/train/budget/validation-size.ts';
import { shuffleIndexes } from '../gate/dice.ts';
import { type RaceResult, race } from '../race.ts';
import { batchesOf } from './batches.ts';
import type { Lab } from './lab.ts';
import type { Tried } from './optimizer.ts';
import { outcomeOf, type SearchResult } from './search-result.ts';
import type { FamilyEdit, FamilySkill } from './world.ts';

const [BATCH, MINIBATCH, READINGS, EDITS, QUIET_STEPS, REMEMBERED] = [40, 5, 3, 4, 3, 8];
/** What a run may ask of the optimizer, beside what the naive peer asks. */
const MOST_ASKED = 1.4;
const DOUBT_AFTER = 3;
const [MOST_LOSSES, MORE_PER_WIN] = [16, 3];
const LEAST_BATCH = 12;
const [MOST_TRIES, LEAST_TO_SHORTEN] = [5, 20];

/** The default: a batch is read until something comes of it, what was seen decides, and what rides along is taken out again. */
export function searchOurWay(lab: Lab): SearchResult {
  const { world, dice } = lab;
  const { n: all, train, budget } = world.spec;
  const n = affordableSize(budget, all);
  const ids = (n === all ? Array.from({ length: n }, (_, i) => i) : shuffleIndexes(dice, all).slice(0, n)).map(String);
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
  let [believedError, accepts, asked, readings, quiet, lost] = [0, 0, 0, 0, 0, 0];
  const memory: Tried[] = [];
  const whole = Math.max(1, Math.floor((budget - n) / (BATCH + n)));
  const mostAsked = Math.ceil(MOST_ASKED * whole);
  const left = () => lab.left() - finalPasses * n;
  const batches = batchesOf(train, batchSize, dice);
  const halves: FamilyEdit[][] = [];
  const single: FamilyEdit[][] = [];
  const unsupported: FamilyEdit[] = [];
  const isProven = new Set<string>();
  let tasks: number[] = [];
  const look = Math.max(planWaves(n)[0]!, Math.min(n, 20));
  while (asked < mostAsked && lost < MOST_LOSSES + MORE_PER_WIN * accepts) {
    if (quiet >= QUIET_STEPS && left() >= n) {
      const suspect = nextSuspect();
      const tried = suspect && tryCandidate(world.remove(skill, suspect), 'without');
      if (tried?.verdict === 'accept') lost = 0;
      if (tried && tried.expectedGain < 0 && suspect.length === 1) isProven.add(suspect[0]!.key);
      quiet = QUIET_STEPS - 1;
      if (suspect) continue;
    }
    const isReadAgain = readings > 0 && readings < READINGS && lab.trainCost(skill, tasks) === 0;
    if (!isReadAgain) [tasks, readings] = [batches.next().value!.tasks, 0];
    const most = left() - look;
    if (lab.trainCost(skill, tasks) > most) tasks = affordable(tasks, most);
    if (left() < lab.trainCost(skill, tasks) + look) break;
    readings++;
    asked++;
    const results = lab.train(skill, tasks, true);
    const shown = memory.slice(-REMEMBERED);
    const { edits, support } = lab.ask({ skill, ...results, minibatch: MINIBATCH, limit: EDITS, memory: shown });
    const chosen = edits.filter(({ key, type }) => !skill.keys.has(key) && type !== 'copy').slice(0, EDITS);
    quiet += edits.length <= EDITS ? QUIET_STEPS : 1;
    if (chosen.length === 0) continue;
    lost++;
    const { verdict } = tryCandidate(world.apply(skill, chosen));
    if (verdict !== 'accept') {
      memory.push({ edits: chosen, status: verdict === 'reject' ? 'rejected' : 'undecided' });
      continue;
    }
    quiet = 0;
    lost = 0;
    if (chosen.length > 1) {
      unsupported.push(...chosen.filter(({ key }) => support.get(key)! < 2));
      halves.push(chosen.slice(Math.ceil(chosen.length / 2)));
      single.push(...chosen.toReversed().map((edit) => [edit]));
    }
  }
  shorten();
  const measured = Array.from({ length: finalPasses }, () => ids).flat();
  const fresh = addObservations(noEvidence, roll(skill)(measured));
  const { score, gain, isClaimed, isSeedBetter } = finalReport({ fresh, seed, isSeed: skill === world.seedSkill });
  return {
    ...outcomeOf(world, isSeedBetter ? world.seedSkill : skill, {
      ...score!,
      ...(gain && !isSeedBetter ? { gain } : {}),
      places: ids.map(Number),
    }),
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

  /** Without all lines that nothing supports, then without the halves of what was missed. */
  function shorten(): void {
    if (n < LEAST_TO_SHORTEN) return;
    const parts = [unsupported.filter(({ key }) => skill.keys.has(key) && !isProven.has(key))];
    for (let tries = 0; tries < MOST_TRIES && left() >= n; tries++) {
      const part = parts.shift();
      if (!part || part.length === 0) return;
      const { verdict } = tryCandidate(world.remove(skill, part), 'shorter');
      const middle = Math.ceil(part.length / 2);
      if (verdict !== 'accept' && part.length > 1) parts.push(part.slice(0, middle), part.slice(middle));
    }
  }

  /** As many of the tasks as can be paid for, unless they are too few. */
  function affordable(all: readonly number[], most: number): number[] {
    let cost = 0;
    const kept = all.filter((task) => lab.trainCost(skill, [task]) === 0 || ++cost <= most);
    return kept.length < LEAST_BATCH ? [...all] : kept;
  }

  function tryCandidate(candidate: FamilySkill, how: 'longer' | 'without' | 'shorter' = 'longer'): RaceResult {
    const sides = { candidate: roll(candidate), current: roll(skill) };
    const isShorter = how === 'shorter';
    const isDoubted = how === 'longer' && lost > 1 && (lost - 1) % DOUBT_AFTER === 0;
    const raced = race({
      knowledge,
      ids: shuffled(),
      batchSize,
      ...sides,
      left,
      isDoubted,
      isShorter,
      together: lab.together,
    });
    knowledge = raced.knowledge;
    if (skill === world.seedSkill) seed = knowledge.own;
    if (raced.verdict === 'accept') take(candidate, raced.observed);
    return raced;
  }

  function take(candidate: FamilySkill, observed: Evidence): void {
    const change = world.truth(candidate) - world.truth(skill);
    accepted[change > 1e-9 ? 'good' : change < -1e-9 ? 'harmful' : 'null']++;
    knowledge = inherit({ knowledge, observed, ids });
    skill = candidate;
    believedError += believedScore(knowledge, ids) - world.truth(skill, ids.map(Number));
    accepts++;
  }
}
