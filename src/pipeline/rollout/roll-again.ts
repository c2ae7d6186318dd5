import { type Item, type ItemScore, type SkillEnv, toEvaluation } from '../../core/contracts/index.ts';
import { settleAll } from '../settle-all.ts';
import type { StageDeps } from '../stage-deps.ts';
import { requireWorkingEnv } from './require-scores.ts';
import { runRollout } from './rollout.ts';

type Side = {
  readonly skill: string /** The next draw of an item under this skill. */;
  readonly from: (id: string) => number;
  /** Where the current skill is asked the same: then it tells whether the environment works. */
  readonly isCompared?: boolean;
};
type Wanted = { readonly item: Item; readonly times: number };

/** New draws of some items of a stage under one skill, all at the same time, in the order given. */
export async function rollAgain(
  wanted: readonly Wanted[],
  { skill, from, isCompared = false }: Side,
  { env, items }: { readonly env: SkillEnv; readonly items: readonly Item[] },
  deps: StageDeps,
): Promise<readonly ItemScore[]> {
  const rolled = wanted.flatMap(({ item, times }) =>
    Array.from({ length: times }, (_, index) =>
      runRollout({ env, skill, items: [item], sampleIndex: from(item.id) + index, isPart: true }, deps),
    ),
  );
  const results = (await settleAll(rolled)).flat();
  if (!isCompared) requireWorkingEnv(results, items.length);
  return toEvaluation(results).scores;
}
