import {
  addObservations,
  type Evidence,
  finalReport,
  gateSettings,
  isBinary,
  judgeWave,
  mergeAccepted,
  noEvidence,
  planWaves,
  pooledMean,
  raceOrder,
  refreshPlan,
  withinVariance,
} from '../../../src/core/stats/index.ts';
import { shuffleIndexes } from '../gate/dice.ts';
import { batchesOf } from './batches.ts';
import type { Lab } from './lab.ts';
import type { Tried } from './optimizer.ts';
import type { SearchResult } from './search-result.ts';
import type { FamilySkill } from './world.ts';

const [BATCH, MINIBATCH, PROPOSALS, EDITS] = [40, 8, 4, 4];

/** The default as it is: four proposals a batch one after the other, many short waves, what was rejected is barred. */
export function searchOurWay(lab: Lab): SearchResult {
  const { world, dice } = lab;
  const { n, train } = world.spec;
  const settings = gateSettings(n);
  const ids = Array.from({ length: n }, (_, i) => `${i}`);
  const roll = (skill: FamilySkill, wanted: readonly string[]) =>
    lab.roll(skill, wanted.map(Number)).map((score, place) => ({ id: wanted[place]!, score }));
  let skill = world.seedSkill;
  let evidence = addObservations(
    noEvidence,
    lab.together(() => [...roll(skill, ids), ...roll(skill, ids)]),
  );
  let seedEvidence = evidence;
  const accepted = { good: 0, null: 0, harmful: 0 };
  let [believedError, accepts] = [0, 0];
  let memory: Tried[] = [];
  let barred = new Set<string>();
  const kept = 2 * n;
  const batches = batchesOf(train, Math.min(BATCH, train), dice);
  search: for (;;) {
    const { tasks, isEpochStart } = batches.next().value!;
    if (isEpochStart) [memory, barred] = [[], new Set()];
    for (let proposal = 0; proposal < PROPOSALS; proposal++) {
      if (lab.left() < kept + lab.trainCost(skill, tasks) + n + 2) break search;
      const results = lab.train(skill, tasks, true);
      const pool = lab.ask({ skill, ...results, minibatch: MINIBATCH, limit: EDITS, memory });
      const chosen = pool.edits.filter(({ key }) => !barred.has(key)).slice(0, EDITS);
      const candidate = world.apply(skill, chosen);
      if (candidate === skill) continue;
      const again = refreshPlan({
        items: ids,
        incumbent: evidence,
        share: settings.refreshShare,
        draw: dice.uniform(),
      });
      evidence = addObservations(evidence, roll(skill, again));
      if (skill === world.seedSkill) seedEvidence = evidence;
      const { isAccepted, observed } = race(candidate);
      if (!isAccepted) {
        memory.push({ edits: chosen, status: 'rejected' });
        for (const { key } of chosen) barred.add(key);
        continue;
      }
      const change = world.truth(candidate) - world.truth(skill);
      accepted[change > 1e-9 ? 'good' : change < -1e-9 ? 'harmful' : 'null']++;
      evidence = mergeAccepted({ incumbent: evidence, candidate: observed, keptRollouts: settings.keptRollouts });
      skill = candidate;
      believedError += pooledMean(evidence)! - world.truth(skill);
      accepts++;
    }
  }
  const fresh = addObservations(
    noEvidence,
    lab.together(() => [...roll(skill, ids), ...roll(skill, ids)]),
  );
  const { score, isClaimed } = finalReport({ fresh, seed: seedEvidence });
  const truth = world.truth(skill);
  return {
    gain: truth - world.truth(world.seedSkill),
    error: score!.value - truth,
    covers: score!.interval.low <= truth && truth <= score!.interval.high,
    claims: isClaimed && skill !== world.seedSkill,
    accepted,
    believedError,
    accepts,
  };

  function race(candidate: FamilySkill): { isAccepted: boolean; observed: Evidence } {
    const order = raceOrder(
      shuffleIndexes(dice, n).map((place) => ids[place]!),
      evidence,
    );
    const scoreKind = isBinary(evidence) ? ('binary' as const) : ('graded' as const);
    const fixed = { incumbent: evidence, scoreKind, withinVariance: withinVariance(seedEvidence) ?? 0.25, settings };
    let observed: Evidence = noEvidence;
    for (const end of planWaves(n, settings)) {
      observed = addObservations(observed, roll(candidate, order.slice(observed.size, end)));
      const { verdict } = judgeWave({ ...fixed, observed, remaining: order.slice(end) });
      if (verdict !== 'continue') return { isAccepted: verdict === 'accept', observed };
    }
    return { isAccepted: false, observed };
  }
}
