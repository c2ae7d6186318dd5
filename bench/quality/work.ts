import { trainInWorld } from './ablation/train-in-world.ts';
import { draftInWorld } from './drafts/draft-in-world.ts';
import { compareInWorld } from './family/compare-in-world.ts';
import { runExactRacing } from './gate/exact-racing.ts';
import { countAfterJump } from './gate/jump.ts';
import { countFirstNights } from './nights/first-nights.ts';
import { playMonth } from './nights/month.ts';
import { trainWholeRun } from './trainer/train-whole-run.ts';

/** What a process of the pool can be asked for. Input and output are plain data, since they travel. */
export const WORK = {
  family: compareInWorld,
  drafts: draftInWorld,
  jump: countAfterJump,
  'exact-racing': runExactRacing,
  'whole-run': trainWholeRun,
  ablation: trainInWorld,
  'first-nights': countFirstNights,
  month: playMonth,
};

export type WorkName = keyof typeof WORK;
export type Input<Name extends WorkName> = Parameters<(typeof WORK)[Name]>[0];
export type Output<Name extends WorkName> = Awaited<ReturnType<(typeof WORK)[Name]>>;
