import { createDice, type Dice } from '../gate/dice.ts';
import { rollout } from '../gate/stream.ts';
import { createFamilyOptimizer, type Pool, type Reading } from './optimizer.ts';
import { createFamilyWorld, type FamilySkill, type FamilyWorld } from './world.ts';
import type { WorldSpec } from './world-spec.ts';

const WORKERS = 16;
/** Analysts, merges of either group, the last merge, the ranking. */
const ROUNDS_OF_ASKING = 4;

export type Use = {
  readonly calls: number;
  readonly optimizerCalls: number;
  readonly tokens: number;
  readonly rounds: number;
};

type TrainResults = { readonly failed: readonly number[]; readonly passed: readonly number[] };

/** A world with everything in it that costs, and what it has cost so far. */
export type Lab = {
  readonly world: FamilyWorld;
  readonly dice: Dice;
  use(): Use;
  left(): number;
  /** One rollout of each place, at the same time as others of one round-up: see `together`. */
  roll(skill: FamilySkill, places: readonly number[]): number[];
  /** Rollouts that are made at the same time share their rounds. */
  together<T>(work: () => T): T;
  /** Training rollouts are kept while the skill stays, if so wished. */
  train(skill: FamilySkill, batch: readonly number[], isKept: boolean): TrainResults;
  /** What a batch would cost now. */
  trainCost(skill: FamilySkill, batch: readonly number[]): number;
  ask(reading: Reading): Pool;
};

/** A task counts as failed below this. */
const PASS = 0.5;

/** The same world for either side of a comparison; dice of its own for each. */
export function openLab(spec: WorldSpec, seed: number, side: number): Lab {
  const world = createFamilyWorld(spec, createDice(seed, 1), createDice(seed, 4));
  const dice = createDice(seed, 2, side);
  const optimizer = createFamilyOptimizer(world, createDice(seed, 3, side));
  const use = { calls: 0, optimizerCalls: 0, tokens: 0, rounds: 0 };
  const known = new Map<string, number>();
  let pending: number | undefined;
  const spend = (count: number) => {
    use.calls += count;
    if (pending === undefined) use.rounds += Math.ceil(count / WORKERS);
    else pending += count;
  };
  const one = (rate: number) => rollout(dice, spec.kind, rate);
  return {
    world,
    dice,
    use: () => ({ ...use }),
    left: () => spec.budget - use.calls,
    roll(skill, places) {
      spend(places.length);
      return places.map((place) => one(skill.rates.val[place]!));
    },
    together(work) {
      pending = 0;
      const result = work();
      use.rounds += Math.ceil(pending / WORKERS);
      pending = undefined;
      return result;
    },
    train(skill, batch, isKept) {
      const keyOf = (task: number) => `${skill.id} ${task}`;
      const fresh = batch.filter((task) => !isKept || !known.has(keyOf(task)));
      for (const task of fresh) known.set(keyOf(task), one(skill.rates.train[task]!));
      spend(fresh.length);
      const isFailed = (task: number) => known.get(keyOf(task))! < PASS;
      return { failed: batch.filter(isFailed), passed: batch.filter((task) => !isFailed(task)) };
    },
    trainCost: (skill, batch) => batch.filter((task) => !known.has(`${skill.id} ${task}`)).length,
    ask(reading) {
      const pool = optimizer(reading);
      use.optimizerCalls += pool.calls;
      use.tokens += pool.tokens;
      use.rounds += pool.calls > 0 ? ROUNDS_OF_ASKING : 0;
      return pool;
    },
  };
}
