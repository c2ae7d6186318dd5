import { normalCdf, normalQuantile } from '../../core/stats/index.ts';
import { type Attempt, chanceOf, thinChance } from './answer.ts';
import type { Advice } from './documents.ts';
import type { Kind } from './kind.ts';

/** What an answer is worth that does what was asked and none of the things, what all of them add, and what a thin one lacks. */
const [ASKED, THINGS, THIN] = [0.45, 0.45, 0.12];

/** What a judge without noise would say. */
export function qualityOf({ kept, missed, isThin }: Attempt): number {
  const wanted = kept.length + missed.length;
  return ASKED + THINGS * (wanted === 0 ? 1 : kept.length / wanted) - (isThin ? THIN : 0);
}

/** By what a night measures: the judge's score, the share of answers that pass, or half of each. */
export type Measure = 'soft' | 'hard' | 'mixed';
/** As answers are judged: so often each, and what passes. */
export type Judging = { readonly sd: number; readonly measure: Measure; readonly passMark: number };

/** The mean over endlessly many answers of a kind, each judged twice by a judge that never leaves 0 to 1. */
export function expectedScore(kind: Kind, advice: Advice, judging: Judging): number {
  const outcomes = outcomesOf(kind, advice);
  return outcomes.reduce((sum, { chance, quality }) => sum + chance * judgedScore(quality, judging), 0);
}

type Outcome = { readonly chance: number; readonly quality: number };

function outcomesOf({ things }: Kind, advice: Advice): Outcome[] {
  const thin = thinChance(advice);
  const flags = [...things.map((thing) => chanceOf(thing, advice)), thin];
  return Array.from({ length: 2 ** flags.length }, (_, code) => {
    const isSet = (at: number) => ((code >> at) & 1) === 1;
    const chance = flags.reduce((product, one, at) => product * (isSet(at) ? one : 1 - one), 1);
    const kept = things.filter((_, at) => isSet(at));
    const missed = things.filter((_, at) => !isSet(at));
    return { chance, quality: qualityOf({ kept, missed, isThin: isSet(things.length) }) };
  });
}

function judgedScore(quality: number, { sd, measure, passMark }: Judging): number {
  const soft = clippedMean(quality, sd);
  if (measure === 'soft') return soft;
  const hard = passRate(quality, sd, passMark);
  return measure === 'hard' ? hard : (soft + hard) / 2;
}

const clip = (value: number) => Math.min(1, Math.max(0, value));
const density = (z: number) => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);

/** Mean of a normal about a value, kept within 0 and 1. */
function clippedMean(at: number, sd: number): number {
  if (sd === 0) return clip(at);
  const [low, high] = [-at / sd, (1 - at) / sd];
  return at * (normalCdf(high) - normalCdf(low)) + sd * (density(low) - density(high)) + (1 - normalCdf(high));
}

const SLICES = 200;

/** How often the mean of two such judgements reaches the mark. Over slices of equal chance of the first one. */
function passRate(at: number, sd: number, passMark: number): number {
  if (sd === 0) return clip(at) >= passMark ? 1 : 0;
  const reaches = (needed: number) => (needed <= 0 ? 1 : needed > 1 ? 0 : 1 - normalCdf((needed - at) / sd));
  const slices = Array.from({ length: SLICES }, (_, slice) => {
    const first = clip(at + sd * normalQuantile((slice + 0.5) / SLICES));
    return reaches(2 * passMark - first);
  });
  return slices.reduce((sum, chance) => sum + chance, 0) / SLICES;
}
