import { normalCdf } from '../../../src/core/stats/index.ts';
import { type Dice, drawBeta } from './dice.ts';

export type Kind = 'binary' | 'graded' | 'judge' | 'judged-outcome';
/** Shares of good and harmful edits; the rest do nothing. An edit moves a share of the items by `shift`. */
export type Mix = { readonly good: number; readonly harmful: number; readonly items: number; readonly shift: number };
export type EditType = 'good' | 'harmful' | 'null';

export const MIXES: readonly Mix[] = [
  { good: 0.3, harmful: 0.3, items: 0.15, shift: 0.45 },
  { good: 0.25, harmful: 0.35, items: 0.3, shift: 0.5 },
  { good: 0.1, harmful: 0.5, items: 0.25, shift: 0.5 },
];

/** A skill, to the simulation: the chance of success on each item. */
export type Skill = Float64Array;

export function seedSkill(dice: Dice, n: number): Skill {
  return Float64Array.from({ length: n }, () => drawBeta(dice, 0.6, 0.4));
}

export function drawEditType(dice: Dice, mix: Mix, goodFactor = 1): EditType {
  const draw = dice.uniform();
  if (draw < mix.good) return dice.uniform() < goodFactor ? 'good' : 'null';
  return draw < mix.good + mix.harmful ? 'harmful' : 'null';
}

export function applyEdit(dice: Dice, skill: Skill, mix: Mix, type: EditType): Skill {
  if (type === 'null') return skill;
  const by = type === 'good' ? mix.shift : -mix.shift;
  return skill.map((p) => (dice.uniform() < mix.items ? Math.min(1, Math.max(0, p + by)) : p));
}

const JUDGE_SD = 0.15;
const clip = (x: number) => Math.min(1, Math.max(0, x));

/** One rollout. Graded scores are the share of five checks passed; a judge adds noise and stays within 0 and 1. */
export function rollout(dice: Dice, kind: Kind, p: number): number {
  if (kind === 'judge') return clip(p + JUDGE_SD * dice.normal());
  if (kind === 'binary') return dice.uniform() < p ? 1 : 0;
  if (kind === 'judged-outcome') return clip((dice.uniform() < p ? 1 : 0) + JUDGE_SD * dice.normal());
  let passed = 0;
  for (let check = 0; check < 5; check++) if (dice.uniform() < p) passed++;
  return passed / 5;
}

/** The mean of infinitely many rollouts. */
export function trueScore(kind: Kind, skill: Skill): number {
  let sum = 0;
  for (const p of skill) sum += trueItemScore(kind, p);
  return sum / skill.length;
}

function trueItemScore(kind: Kind, p: number): number {
  if (kind === 'judge') return clippedMean(p);
  if (kind === 'judged-outcome') return p * clippedMean(1) + (1 - p) * clippedMean(0);
  return p;
}

const density = (z: number) => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);

/** Mean of a normal about p, kept within 0 and 1. */
function clippedMean(p: number): number {
  const [low, high] = [-p / JUDGE_SD, (1 - p) / JUDGE_SD];
  return p * (normalCdf(high) - normalCdf(low)) + JUDGE_SD * (density(low) - density(high)) + (1 - normalCdf(high));
}
