import type { Item, SkillEnv } from '../../core/contracts/index.ts';

export type RolloutInput<I extends Item> = {
  readonly env: SkillEnv<I>;
  readonly skill: string;
  readonly items: readonly I[];
  /** Which draw of each item: rollouts with another index are independent of these. */
  readonly sampleIndex?: number;
  /** What the results are for: to learn from, or to measure with. */
  readonly phase?: 'train' | 'eval';
  /** Part of a measurement: whether enough of it has a score is asked of the whole, by the caller that has it. */
  readonly isPart?: boolean;
};
