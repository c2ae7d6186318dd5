import { type Patch, policyOf } from '../../core/document/index.ts';
import type { RunState, StepAction } from '../../core/run/index.ts';
import { salvagePatch } from '../../pipeline/index.ts';
import { rolloutsLeft } from '../budget/rollouts-left.ts';
import type { Run } from '../run.ts';
import { unusableBeside } from './why-unusable.ts';

type Rejected = {
  readonly step: number;
  readonly patch: Patch;
  readonly action: StepAction;
  readonly isInvalid: boolean;
};

/** What becomes of a step: a rejected patch of several edits may be saved in part. */
export async function trySalvage(
  state: RunState,
  { step, patch, action, isInvalid }: Rejected,
  run: Run,
): Promise<StepAction> {
  const { config, env, items, commit, deps } = run;
  if (
    !config.salvage ||
    action !== 'reject' ||
    isInvalid ||
    patch.edits.length < 2 ||
    config.skillUpdateMode !== 'patch'
  )
    return action;
  const gate = { env, state, items: items.val, config, rolloutsLeft: rolloutsLeft(state, config, items) };
  const part = {
    skill: state.current.skill,
    edits: patch.edits,
    maxRollouts: config.salvageRollouts,
    maxSkillTokens: config.maxSkillTokens,
    policy: policyOf(config, step),
    whyUnusable: unusableBeside(state.current.skill, run),
  };
  const salvage = await salvagePatch({ ...gate, ...part }, deps);
  await commit({ type: 'salvage-end', step, ...salvage });
  return salvage.accepted?.action ?? action;
}
