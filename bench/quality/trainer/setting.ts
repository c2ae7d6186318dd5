import type { SkillOptConfigInput } from '../../../src/index.ts';
import type { SimulatedOptimizerOptions } from '../../../src/public/sim.ts';
import { OPTIMIZERS as READERS } from '../ablation/setting.ts';

export const SIDES = ['paper', 'default'] as const;
export type Side = (typeof SIDES)[number];

/** Target calls that a run may make, with all that it measures. */
export const SIZES = [680, 1480, 2000] as const;
export type Size = (typeof SIZES)[number];

/** Claims in a world without any gain are few: there the runs are short, and many. */
export const NULL_SIZE: Size = 680;

/** The trainer's own world. The rules world has as many tasks. */
export const WORLD = { train: 80, val: 40, test: 0 } as const;

/** Of the own world. Three answers in ten are slips: about as much noise as an agent has. */
export const NOISE = 0.3;

const NO_MEMORY = { stubbornness: 0, metaGain: 0, slowGain: 0 };

/**
 * Of the own world: chances per edit. A batch gives several edits on a topic, so a candidate is better far more often than an
 * edit is. The first three were chosen on seeds from five million on, by the paper's protocol alone; none has habits, and no
 * memory makes it wiser. The last one is the ablation's: with enough calls nearly everything is learned, whatever the gate.
 */
export const OPTIMIZERS = [
  { precision: 0.1, harmfulRate: 0.3, ...NO_MEMORY },
  { precision: 0.2, harmfulRate: 0.5, ...NO_MEMORY },
  { precision: 0.1, harmfulRate: 0.5, ...NO_MEMORY },
  READERS.reader,
] as const satisfies readonly SimulatedOptimizerOptions[];

/** As many calls at once as the rounds are counted with. They change nothing else. */
const COMMON = { evalTest: false, workers: 16 } as const;

/** What a side is, at a size: nothing else tells the sides apart. */
export function configOf(side: Side, size: Size): SkillOptConfigInput {
  return side === 'paper' ? { ...COMMON, ...naivePeer(size) } : { ...COMMON, ...ours(size) };
}

/**
 * The paper's protocol without the comparison of epochs, which would cost it calls, for as many epochs as the calls last.
 * It keeps train rollouts while the skill stays, as ours does.
 */
function naivePeer(size: Size): SkillOptConfigInput {
  return { preset: 'paper', useSlowUpdate: false, useMetaSkill: false, maxRollouts: size };
}

function ours(size: Size): SkillOptConfigInput {
  return { preset: 'default', maxRollouts: size };
}
