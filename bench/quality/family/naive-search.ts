import { buildScheduler } from '../../../src/core/contracts/index.ts';
import { batchesOf } from './batches.ts';
import type { Lab } from './lab.ts';
import type { Tried } from './optimizer.ts';
import { outcomeOf, type SearchResult } from './search-result.ts';

const [BATCH, MINIBATCH] = [40, 8];

/**
 * The naive peer: one proposal a batch with four edits, later two; one pass over validation; better than a frozen score is
 * better. As many steps as the budget pays for. What it reports is the score that it has chosen by.
 */
export function searchNaively(lab: Lab): SearchResult {
  const { world, dice } = lab;
  const { n, train, budget } = world.spec;
  const batch = Math.min(BATCH, train);
  const all = Array.from({ length: n }, (_, place) => place);
  const totalSteps = Math.max(1, Math.floor((budget - n) / (batch + n)));
  const budgetOf = buildScheduler({ totalSteps }).getLr;
  const meanOf = (scores: readonly number[]) => scores.reduce((sum, score) => sum + score, 0) / n;
  let skill = world.seedSkill;
  let score = meanOf(lab.roll(skill, all));
  const first = score;
  const accepted = { good: 0, null: 0, harmful: 0 };
  let memory: Tried[] = [];
  const batches = batchesOf(train, batch, dice);
  for (let step = 1; step <= totalSteps; step++) {
    const { tasks, isEpochStart } = batches.next().value!;
    if (isEpochStart) memory = [];
    const limit = budgetOf(step);
    const results = lab.train(skill, tasks, true);
    const { edits } = lab.ask({ skill, ...results, minibatch: MINIBATCH, limit, memory });
    const chosen = edits.slice(0, limit);
    const candidate = world.apply(skill, chosen);
    if (candidate === skill) continue;
    const reached = meanOf(lab.roll(candidate, all));
    if (reached > score) {
      const change = world.truth(candidate) - world.truth(skill);
      accepted[change > 1e-9 ? 'good' : change < -1e-9 ? 'harmful' : 'null']++;
      [skill, score] = [candidate, reached];
    } else {
      memory.push({ edits: chosen, status: 'rejected' });
    }
  }
  return {
    ...outcomeOf(world, skill, { value: score, gain: { value: score - first } }),
    claims: score > first,
    accepted,
    believedError: 0,
    accepts: 0,
  };
}
