import { toEvidence } from '../core/gate-evidence.ts';
import { PythonRandom } from '../core/random.ts';
import { type ItemScore, toEvaluation } from '../core/score.ts';
import { refreshPlan } from '../core/stats/refresh-plan.ts';
import type { GateInput } from './gate-input.ts';
import { runRollout } from './rollout.ts';
import type { StageDeps } from './stage-deps.ts';

/** New draws of the items that the current skill has met least often: its score shall not be a lucky draw for ever. */
export async function refreshIncumbent(
  { env, state, items, seed = 0, isRefreshing = false }: GateInput,
  share: number,
  deps: StageDeps,
): Promise<readonly ItemScore[]> {
  if (!isRefreshing) return [];
  const { incumbent, draws } = state.gate;
  const draw = new PythonRandom(seed).random();
  const ids = refreshPlan({ items: items.map(({ id }) => id), incumbent: toEvidence(incumbent), share, draw });
  const chosen = items.filter(({ id }) => ids.includes(id));
  const { skill } = state.current;
  const rolled = chosen.map((item) =>
    runRollout({ env, skill, items: [item], sampleIndex: draws[item.id] ?? 0, isPart: true }, deps),
  );
  await Promise.allSettled(rolled); // replies that are on their way get kept, whatever happened to others
  return toEvaluation((await Promise.all(rolled)).flat()).scores;
}
