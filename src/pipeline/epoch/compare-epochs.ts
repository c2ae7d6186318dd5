import {
  chunk,
  type Item,
  type PairCategory,
  type PairPolicy,
  type RolloutResult,
  type SkillEnv,
} from '../../core/contracts/index.ts';
import type { Pair } from '../../core/run/index.ts';
import { isFailure } from '../reflect/trajectory.ts';
import { runRollout } from '../rollout/rollout.ts';
import { settleAll } from '../settle-all.ts';
import type { StageDeps } from '../stage-deps.ts';

type CompareInput = {
  readonly env: SkillEnv;
  readonly previousSkill: string;
  readonly currentSkill: string;
  /** Training tasks in a shuffled order: the first `samples` are compared, further ones only to fill up. */
  readonly items: readonly Item[];
  readonly samples: number;
  readonly policy: PairPolicy;
};

/** The same tasks under the skill of the epoch before and the one of now, both at the same time. */
export async function compareEpochs(input: CompareInput, deps: StageDeps): Promise<Pair[]> {
  const { items, samples, policy } = input;
  const sampled = await pairUp(items.slice(0, samples), input, deps);
  const chosen = sampled.filter(({ category }) => isWanted(category, policy));
  return policy === 'changed' ? topUp(chosen, input, deps) : chosen;
}

const CHANGED: readonly PairCategory[] = ['improved', 'regressed'];

function isWanted(category: PairCategory, policy: PairPolicy): boolean {
  return policy === 'mixed' || CHANGED.includes(category) === (policy === 'changed');
}

/** Further tasks, as many at a time as are missing, until there are enough or none is left. */
async function topUp(chosen: readonly Pair[], input: CompareInput, deps: StageDeps): Promise<Pair[]> {
  const pairs = [...chosen];
  for (const more of chunk(input.items.slice(input.samples), Math.max(1, input.samples))) {
    if (pairs.length >= input.samples) break;
    const further = await pairUp(more, input, deps);
    pairs.push(...further.filter(({ category }) => isWanted(category, input.policy)));
  }
  return pairs.slice(0, input.samples);
}

async function pairUp(items: readonly Item[], input: CompareInput, deps: StageDeps): Promise<Pair[]> {
  const { env, previousSkill, currentSkill } = input;
  const skills = [...new Set([previousSkill, currentSkill])]; // an epoch without a change has one side
  const rollouts = skills.map((skill) => runRollout({ env, skill, items, phase: 'train' }, deps));
  const [before, after = before] = await settleAll(rollouts);
  return items.flatMap(({ id }, index) => {
    const [previous, current] = [before![index]!, after![index]!];
    if (previous.errored || current.errored) return []; // an outage on one side says nothing about the skills
    return [{ id, category: categoryOf(previous, current), previous, current }];
  });
}

function categoryOf(previous: RolloutResult, current: RolloutResult): PairCategory {
  if (isFailure(previous)) return isFailure(current) ? 'persistent_fail' : 'improved';
  return isFailure(current) ? 'regressed' : 'stable_success';
}
