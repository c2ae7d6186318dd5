import type { SimulatedOptimizerOptions } from '../../../src/public/sim.ts';
import type { RulesOptimizerOptions } from '../rules-world/rules-optimizer.ts';
import { OPTIMIZERS } from './setting.ts';

/** A kind of world with its optimizer. */
export type Cell = { readonly group: Group } & (
  | { readonly world: 'own'; readonly optimizer: SimulatedOptimizerOptions }
  | { readonly world: 'rules'; readonly noise: number; readonly optimizer: RulesOptimizerOptions }
);
/** `easy`: with enough calls nearly everything is learned, whatever the gate. `null`: no text changes anything. */
export type Group = 'own' | 'rules' | 'easy' | 'null';
export type WorldName = Cell['world'];

const [FIRST, SECOND, THIRD, EASY] = OPTIMIZERS;

const rulesCell = (group: Group, optimizer: RulesOptimizerOptions, noise: number): Cell => {
  return { group, world: 'rules', optimizer, noise };
};
const MIDDLING = { precision: 0.4, harm: 0.2 };
const POOR = { precision: 0.15, harm: 0.3 };

/** Each is tried with the same seeds on both sides. */
export const CELLS: readonly Cell[] = [
  ...[FIRST, SECOND, THIRD].map((optimizer): Cell => ({ group: 'own', world: 'own', optimizer })),
  ...[0.1, 0.3].flatMap((noise) => [MIDDLING, POOR].map((optimizer) => rulesCell('rules', optimizer, noise))),
  { group: 'easy', world: 'own', optimizer: EASY },
  rulesCell('easy', { precision: 0.9, harm: 0.02 }, 0.1),
  { group: 'null', world: 'own', optimizer: FIRST },
  rulesCell('null', MIDDLING, 0.3),
];
