import type { RegressionCheck } from '../core/gate-decision.ts';
import { toObservations } from '../core/gate-evidence.ts';
import { type ItemScore, toEvaluation } from '../core/score.ts';
import type { Evidence } from '../core/stats/evidence.ts';
import { type Flip, findFlips, regressionVeto } from '../core/stats/regression-veto.ts';
import type { GateInput } from './gate-input.ts';
import { runRollout } from './rollout.ts';
import type { StageDeps } from './stage-deps.ts';

type Winner = {
  readonly skill: string;
  readonly observed: Evidence;
  readonly incumbent: Evidence;
  /** The next draw of an item, under the candidate and under the current skill. */
  readonly nextDraw: number;
  readonly nextIncumbentDraw: (id: string) => number;
};

/**
 * A candidate that won, asked about the items that it seems to have lost: each is rolled out again on both sides before it
 * counts. Without the veto only protected items are asked about. `undefined` if there is nothing to ask.
 */
export async function vetoRegressions(
  { skill, observed, incumbent, nextDraw, nextIncumbentDraw }: Winner,
  input: GateInput,
  deps: StageDeps,
): Promise<RegressionCheck | undefined> {
  const { regressionVeto: isOn = false, protectedItems = [] } = input.config;
  const found = findFlips({ incumbent, candidate: observed, protectedItems: new Set(protectedItems) });
  const flips = isOn ? found : found.filter(({ isProtected }) => isProtected);
  if (flips.length === 0) return undefined;
  const rollAgain = (text: string, from: (id: string) => number) => reroll(flips, { text, from }, input, deps);
  const rolled = [rollAgain(input.state.current.skill, nextIncumbentDraw), rollAgain(skill, () => nextDraw)] as const;
  await Promise.allSettled(rolled);
  const [before, after] = await Promise.all(rolled);
  const observe = (scores: readonly ItemScore[]) => toObservations(scores, input.config);
  const veto = regressionVeto({ flips, incumbent: observe(before), candidate: observe(after) });
  return { ...veto, incumbent: before, candidate: after };
}

type Side = { readonly text: string; readonly from: (id: string) => number };

/** New draws of every flipped item, in the order of the items. */
async function reroll(
  flips: readonly Flip[],
  { text: skill, from }: Side,
  { env, items }: GateInput,
  deps: StageDeps,
): Promise<readonly ItemScore[]> {
  const wanted = new Map(flips.map(({ id, rerolls }) => [id, rerolls]));
  const rolled = items.flatMap((item) =>
    Array.from({ length: wanted.get(item.id) ?? 0 }, (_, index) =>
      runRollout({ env, skill, items: [item], sampleIndex: from(item.id) + index, isPart: true }, deps),
    ),
  );
  await Promise.allSettled(rolled); // replies that are on their way get kept, whatever happened to others
  return toEvaluation((await Promise.all(rolled)).flat()).scores;
}
