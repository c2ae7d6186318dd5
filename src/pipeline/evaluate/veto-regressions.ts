import type { ItemScore } from '../../core/contracts/index.ts';
import { type RegressionCheck, toObservations } from '../../core/run/index.ts';
import { type Evidence, findFlips, regressionVeto } from '../../core/stats/index.ts';
import { rollAgain } from '../rollout/roll-again.ts';
import { settleAll } from '../settle-all.ts';
import type { StageDeps } from '../stage-deps.ts';
import type { RaceInput } from './race-input.ts';

type Winner = {
  readonly skill: string;
  readonly observed: Evidence;
  readonly incumbent: Evidence;
  /** The next draw of an item, under the candidate and under the current skill. */
  readonly nextDraw: (id: string) => number;
  readonly nextIncumbentDraw: (id: string) => number;
  readonly rolloutsLeft: number | undefined;
};

/** A winner that cannot be asked is not taken. */
const unasked = (count: number): RegressionCheck => {
  const reason = `no rollouts are left to ask about ${count} tasks that seem to be lost`;
  return { isVetoed: true, regressions: [], reason, incumbent: [], candidate: [] };
};

/**
 * A candidate that won, asked about the items that it seems to have lost: each is rolled out again on both sides before it
 * counts. Without the veto only protected items are asked about. `undefined` if there is nothing to ask.
 */
export async function vetoRegressions(
  { skill, observed, incumbent, nextDraw, nextIncumbentDraw, rolloutsLeft }: Winner,
  input: RaceInput,
  deps: StageDeps,
): Promise<RegressionCheck | undefined> {
  const { regressionVeto: isOn = false, protectedItems = [] } = input.config;
  const found = findFlips({ incumbent, candidate: observed, protectedItems: new Set(protectedItems) });
  const flips = isOn ? found : found.filter(({ isProtected }) => isProtected);
  if (flips.length === 0) return undefined;
  const wanted = input.items.flatMap((item) => {
    const flip = flips.find(({ id }) => id === item.id);
    return flip ? [{ item, times: flip.rerolls }] : [];
  });
  const asked = 2 * flips.reduce((sum, { rerolls }) => sum + rerolls, 0);
  if (rolloutsLeft !== undefined && asked > rolloutsLeft) return unasked(flips.length);
  const [before, after] = await settleAll([
    rollAgain(wanted, { skill: input.state.current.skill, from: nextIncumbentDraw }, input, deps),
    rollAgain(wanted, { skill, from: nextDraw, isCompared: true }, input, deps),
  ] as const);
  const observe = (scores: readonly ItemScore[]) => toObservations(scores, input.config);
  const veto = regressionVeto({ flips, incumbent: observe(before), candidate: observe(after) });
  return { ...veto, incumbent: before, candidate: after };
}
