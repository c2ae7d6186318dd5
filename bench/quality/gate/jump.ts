import { addOwn, inherit, type Knowledge, noKnowledge } from '../../../src/public/stats.ts';
import { race } from '../race.ts';
import { createDice, type Dice, shuffleIndexes } from './dice.ts';

export type JumpInput = {
  readonly n: number;
  readonly noise: number;
  readonly from: number;
  readonly seeds: number;
};

/** Accepted useless edits in all runs, by gate. */
export type JumpResult = { readonly strict: number; readonly ours: number; readonly offered: number };

const USELESS_EDITS = 15;
const SOLVED_BEFORE = 0.2;
const BATCH = 40;

/** A fifth of the items is solved; one edit solves all of them; then come edits that change nothing. */
export function countAfterJump({ n, noise, from, seeds }: JumpInput): JumpResult {
  const total = { strict: 0, ours: 0, offered: seeds * USELESS_EDITS };
  for (let seed = from; seed < from + seeds; seed++) {
    total.strict += strictAccepts(n, noise, createDice(seed, n, 1));
    total.ours += ourAccepts(n, noise, createDice(seed, n, 2));
  }
  return total;
}

const rollWith = (rate: number, dice: Dice) => Number(dice.uniform() < rate);
const rateBefore = (place: number, n: number, noise: number) => (place < SOLVED_BEFORE * n ? 1 - noise : noise);

function strictAccepts(n: number, noise: number, dice: Dice): number {
  const pass = () => Array.from({ length: n }, () => rollWith(1 - noise, dice)).reduce((sum, score) => sum + score, 0);
  let best = pass(); // the edit that solves all of them, which any gate takes
  let accepts = 0;
  for (let edit = 0; edit < USELESS_EDITS; edit++) {
    const score = pass();
    if (score > best) [best, accepts] = [score, accepts + 1];
  }
  return accepts;
}

function ourAccepts(n: number, noise: number, dice: Dice): number {
  const ids = Array.from({ length: n }, (_, place) => `${place}`);
  const roll = (rateOf: (place: number) => number) => (wanted: readonly string[]) =>
    wanted.map((id) => ({ id, score: rollWith(rateOf(Number(id)), dice) }));
  const before = roll((place) => rateBefore(place, n, noise));
  const after = roll(() => 1 - noise);
  const shuffled = () => shuffleIndexes(dice, n).map((place) => ids[place]!);
  let knowledge: Knowledge = addOwn(noKnowledge, [...before(ids), ...before(ids)]);
  let accepts = -1; // the first is the jump
  for (let edit = 0; edit <= USELESS_EDITS; edit++) {
    const current = accepts < 0 ? before : after;
    const raced = race({ knowledge, ids: shuffled(), batchSize: BATCH, candidate: after, current });
    const { verdict, observed } = raced;
    knowledge = verdict === 'accept' ? inherit({ knowledge: raced.knowledge, observed, ids }) : raced.knowledge;
    if (verdict === 'accept') accepts++;
  }
  return Math.max(0, accepts);
}
