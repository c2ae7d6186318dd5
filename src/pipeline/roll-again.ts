import type { Item, SkillEnv } from '../core/env.ts';
import { type ItemScore, toEvaluation } from '../core/score.ts';
import { runRollout } from './rollout.ts';
import { settleAll } from './settle-all.ts';
import type { StageDeps } from './stage-deps.ts';

type Side = {
  readonly skill: string /** The next draw of an item under this skill. */;
  readonly from: (id: string) => number;
};
type Wanted = { readonly item: Item; readonly times: number };

/** New draws of some items under one skill, all at the same time, in the order given. */
export async function rollAgain(
  wanted: readonly Wanted[],
  { skill, from }: Side,
  env: SkillEnv,
  deps: StageDeps,
): Promise<readonly ItemScore[]> {
  const rolled = wanted.flatMap(({ item, times }) =>
    Array.from({ length: times }, (_, index) =>
      runRollout({ env, skill, items: [item], sampleIndex: from(item.id) + index, isPart: true }, deps),
    ),
  );
  return toEvaluation((await settleAll(rolled)).flat()).scores;
}
