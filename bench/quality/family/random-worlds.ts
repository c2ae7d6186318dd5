import { createDice, type Dice } from '../gate/dice.ts';
import type { Effects, WorldSpec } from './world-spec.ts';

/** The worlds that judge are drawn from this seed, once; those to tune on from the other. Low budgets take the next one. */
export const JUDGING_SEED = 20_261_115;
export const TUNING_SEED = 77;

type Draws = {
  pick<T>(...options: readonly T[]): T;
  between(low: number, high: number): number;
};
type Sizes = { readonly n: readonly number[]; budgetFor(n: number, draws: Draws): number };

const USUAL_SIZES: Sizes = {
  n: [8, 20, 30, 40, 40, 60, 100, 200],
  budgetFor: (n, { pick }) => Math.max(6 * n + 240, pick(680, 680, 1000, 1500, 2000, 3000)), // pays for a few passes
};
const LOW_BUDGETS: Sizes = {
  n: [30, 40, 60, 100, 120, 200],
  budgetFor: (n, { between }) => Math.max(120, Math.round(between(2.6, 4) * n)),
};

/** Worlds that nobody chose: every property is drawn by itself. The same seed gives the same worlds. */
export function randomWorlds(count: number, seed: number): WorldSpec[] {
  return drawWorlds(count, seed, { prefix: 'random', sizes: USUAL_SIZES });
}

/** Such worlds where the calls pay for two or three passes over validation, and little else. */
export function lowBudgetWorlds(count: number, seed: number): WorldSpec[] {
  return drawWorlds(count, seed, { prefix: 'low', sizes: LOW_BUDGETS });
}

type Manner = { readonly prefix: string; readonly sizes: Sizes };

function drawWorlds(count: number, seed: number, { prefix, sizes }: Manner): WorldSpec[] {
  return Array.from({ length: count }, (_, i) => randomWorld(createDice(seed, i), `${prefix}_${i + 1}`, sizes));
}

function randomWorld(dice: Dice, name: string, sizes: Sizes): WorldSpec {
  const pick = <T>(...options: readonly T[]): T => options[Math.floor(dice.uniform() * options.length)]!;
  const between = (low: number, high: number) => low + (high - low) * dice.uniform();
  const isLocal = dice.uniform() < 0.65;
  const n = pick(...sizes.n);
  return {
    name,
    effects: isLocal ? randomRules(dice, between) : randomMix(between),
    noise: pick<number | 'mixed'>(0, 0.02, 0.05, 0.1, 0.2, 0.3, 'mixed', 'mixed'),
    kind: pick('binary', 'binary', 'binary', 'graded', 'judge', 'judged-outcome'),
    n,
    train: pick(40, 80, 80, 160),
    budget: sizes.budgetFor(n, { pick, between }),
    ranker: pick('right', 'noisy', 'random'),
    wording: pick('fixed', 'new'),
    learns: dice.uniform() < 0.4,
    editsPerAnalyst: pick(0.25, 1, 2, 4),
    clash: pick(0, 0, 0.15),
    repeats: 0,
    copies: 0,
    isNull: false,
  };
}

type Between = Draws['between'];

function randomRules(dice: Dice, between: Between): Effects {
  return {
    type: 'rules',
    rules: Math.round(between(6, 30)),
    settled: dice.uniform() < 0.5 ? 0 : between(0.1, 0.5),
    precision: between(0.1, 0.8),
    harm: between(0, 0.4),
    isSupportTelling: dice.uniform() < 0.4,
  };
}

function randomMix(between: Between): Effects {
  const good = between(0.08, 0.5);
  return { type: 'mix', good, harmful: between(0, 0.9 - good), items: between(0.08, 0.35), shift: between(0.2, 0.6) };
}
