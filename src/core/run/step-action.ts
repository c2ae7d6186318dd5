import type { GateAction } from '../gate/gate.ts';

export const STAGES = ['rollout', 'reflect', 'aggregate', 'select', 'update', 'evaluate'] as const;
export type Stage = (typeof STAGES)[number];

/** What became of a step: the gate's word, or why the gate was not asked. */
export type StepAction =
  | GateAction
  | 'unchanged'
  | 'skip_no_patches'
  | 'skip_no_rewrite'
  | 'skip_invalid'
  | 'force_accept';
