import type { SkillOptConfigInput } from '../../../src/index.ts';

/** Two settings that differ in one thing. */
export type Comparison = {
  readonly name: string;
  readonly what: string;
  /** A part may not cost more than a point. An alternative is only told. */
  readonly kind: 'part' | 'alternative';
  readonly on: SkillOptConfigInput;
  readonly off: SkillOptConfigInput;
};

const part = (name: string, what: string, off: SkillOptConfigInput): Comparison => {
  return { name, what, kind: 'part', on: {}, off };
};
const alternative = (name: string, what: string, on: SkillOptConfigInput): Comparison => {
  return { name, what, kind: 'alternative', on, off: {} };
};

export const COMPARISONS: readonly Comparison[] = [
  part('step-buffer', 'step buffer', { useStepBuffer: false, retryRejectedEdits: true }),
  part('meta-skill', 'meta skill', { useMetaSkill: false }),
  part('slow-update', 'slow update', { useSlowUpdate: false }),
  part('meta-and-slow', 'meta skill and slow update', { useMetaSkill: false, useSlowUpdate: false }),
  part('edit-budget', 'edit budget', { lrControlMode: 'none' }),
  {
    name: 'skill-aware',
    what: 'skill-aware reflection',
    kind: 'part',
    on: { useSkillAwareReflection: true },
    off: {},
  },
  alternative('autonomous', 'autonomous budget, not fixed', { lrControlMode: 'autonomous' }),
  alternative('suggestions', 'rewriting from suggestions, not patches', {
    skillUpdateMode: 'rewrite_from_suggestions',
  }),
  alternative('whole', 'whole rewrites, not patches', { skillUpdateMode: 'full_rewrite_minibatch' }),
];
