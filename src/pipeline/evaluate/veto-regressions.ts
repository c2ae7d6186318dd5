import { type Item, type ItemScore, type SkillEnv, toEvaluation } from '../../core/contracts/index.ts';
import { type RegressionCheck, toObservations } from '../../core/run/index.ts';
import { type Evidence, findFlips, regressionVeto } from '../../core/stats/index.ts';
import { requireWorkingEnv } from '../rollout/require-scores.ts';
import { runRollout } from '../rollout/rollout.ts';
import { type StageDeps, settleAll } from '../stage-deps.ts';
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
  const rerolls = input.items.flatMap((item) => {
    const flip = flips.find(({ id }) => id === item.id);
    return flip ? [{ item, times: flip.rerolls }] : [];
  });
  const asked = 2 * flips.reduce((sum, { rerolls }) => sum + rerolls, 0);
  if (rolloutsLeft !== undefined && asked > rolloutsLeft) return unasked(flips.length);
  const [before, after] = await settleAll([
    rollAgain(rerolls, { skill: input.state.current.skill, from: nextIncumbentDraw }, input, deps),
    rollAgain(rerolls, { skill, from: nextDraw, isCompared: true }, input, deps),
  ] as const);
  const observe = (scores: readonly ItemScore[]) => toObservations(scores, input.config);
  const veto = regressionVeto({ flips, incumbent: observe(before), candidate: observe(after) });
  return { ...veto, incumbent: before, candidate: after };
}

type RaceSide = {
  readonly skill: string;
  /** The next draw of an item under this skill. */
  readonly from: (id: string) => number;
  /** Where the current skill is asked the same: then it tells whether the environment works. */
  readonly isCompared?: boolean;
};
type Reroll = { readonly item: Item; readonly times: number };

/** New draws of some items of a stage under one skill, all at the same time, in the order given. */
export async function rollAgain(
  rerolls: readonly Reroll[],
  { skill, from, isCompared = false }: RaceSide,
  { env, items }: { readonly env: SkillEnv; readonly items: readonly Item[] },
  deps: StageDeps,
): Promise<readonly ItemScore[]> {
  const rolled = rerolls.flatMap(({ item, times }) =>
    Array.from({ length: times }, (_, index) =>
      runRollout({ env, skill, items: [item], sampleIndex: from(item.id) + index, isPart: true }, deps),
    ),
  );
  const results = (await settleAll(rolled)).flat();
  if (!isCompared) requireWorkingEnv(results, items.length);
  return toEvaluation(results).scores;
}
