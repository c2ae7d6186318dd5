import { knowsNoise, type SkillOptConfig } from '../../core/contracts/index.ts';
import type { RunState } from '../../core/run/index.ts';
import { rolloutsLeft } from '../budget/rollouts-left.ts';
import type { Run } from '../run.ts';
import { unusableBeside } from './guard-edits.ts';

/** Where candidates are measured, and what they must beat. */
export function candidateGate(state: RunState, run: Run) {
  const { config, env, items, rule } = run;
  const limits = {
    rolloutsLeft: rolloutsLeft(state, config, items),
    whyUnusable: unusableBeside(state.current.skill, run),
  };
  return { env, state, items: items.val, config, rule, ...limits };
}

type GateSettings = Pick<SkillOptConfig, 'gate' | 'useGate' | 'skillUpdateMode'>;

/** Whether a skill can be tried without some of its lines: edits wrote them, and the gate knows what is no worse. */
export const canTryWithout = ({ gate, useGate, skillUpdateMode }: GateSettings): boolean =>
  knowsNoise(gate) && useGate && skillUpdateMode === 'patch';
