import { patientSettings } from '../../../src/core/stats/index.ts';
import { createDice } from './dice.ts';
import { runExactRacing } from './exact-racing.ts';
import type { TrainCosts } from './proposer.ts';
import { type RunInput, runDefault, runStrict } from './runs.ts';
import { type Kind, MIXES, NULL_MIX } from './stream.ts';

export type Gate = 'strict' | 'default' | 'patient' | 'veto' | 'exact';

/** One world under one gate, over a range of seeds. Plain data, since it travels to another process. */
export type Cell = {
  readonly gate: Gate;
  readonly n: number;
  readonly kind: Kind;
  /** Which mix; 3 is the world in which no edit does anything. */
  readonly world: number;
  readonly budget: number;
  readonly train?: TrainCosts;
  readonly firstSeed: number;
  readonly seeds: number;
};

/** Sums over seeds, so that parts can be added. */
export type Sums = Record<
  | 'runs'
  | 'gain'
  | 'gainSquares'
  | 'error'
  | 'errorSquares'
  | 'covers'
  | 'gainCovers'
  | 'claims'
  | 'large'
  | 'largeClaims'
  | 'nullOffered'
  | 'nullAccepted'
  | 'harmfulOffered'
  | 'harmfulAccepted'
  | 'goodOffered'
  | 'goodAccepted'
  | 'nullVetoed'
  | 'harmfulVetoed'
  | 'goodVetoed'
  | 'used'
  | 'full'
  | 'differ',
  number
>;

const WORLDS = [...MIXES, NULL_MIX];
const LARGE_GAIN = 0.15;

export function noSums(): Sums {
  return {
    runs: 0,
    gain: 0,
    gainSquares: 0,
    error: 0,
    errorSquares: 0,
    covers: 0,
    gainCovers: 0,
    claims: 0,
    large: 0,
    largeClaims: 0,
    nullOffered: 0,
    nullAccepted: 0,
    harmfulOffered: 0,
    harmfulAccepted: 0,
    goodOffered: 0,
    goodAccepted: 0,
    nullVetoed: 0,
    harmfulVetoed: 0,
    goodVetoed: 0,
    used: 0,
    full: 0,
    differ: 0,
  };
}

export function addSums(a: Sums, b: Sums): Sums {
  const sums = noSums();
  for (const key of Object.keys(sums) as (keyof Sums)[]) sums[key] = a[key] + b[key];
  return sums;
}

export function runCell(cell: Cell): Sums {
  let sums = noSums();
  for (let seed = cell.firstSeed; seed < cell.firstSeed + cell.seeds; seed++) sums = addSums(sums, runSeed(cell, seed));
  return sums;
}

function runSeed({ gate, n, kind, world, budget, train }: Cell, seed: number): Sums {
  const input: RunInput = {
    dice: createDice(seed, n, world),
    n,
    kind,
    mix: WORLDS[world]!,
    budget,
    ...(train ? { train } : {}),
    ...(gate === 'patient' ? { settings: patientSettings(n) } : {}),
    isVetoing: gate === 'veto',
  };
  if (gate === 'exact') return { ...noSums(), runs: 1, ...runExactRacing(input) };
  const { gain, error, offered, accepted, vetoed, ...run } = gate === 'strict' ? runStrict(input) : runDefault(input);
  const isLarge = gain >= LARGE_GAIN;
  return {
    ...noSums(),
    runs: 1,
    gain,
    gainSquares: gain * gain,
    error,
    errorSquares: error * error,
    covers: Number(run.covers),
    gainCovers: Number(run.gainCovers),
    claims: Number(run.claims),
    large: Number(isLarge),
    largeClaims: Number(isLarge && run.claims),
    nullOffered: offered.null,
    nullAccepted: accepted.null,
    harmfulOffered: offered.harmful,
    harmfulAccepted: accepted.harmful,
    goodOffered: offered.good,
    goodAccepted: accepted.good,
    nullVetoed: vetoed.null,
    harmfulVetoed: vetoed.harmful,
    goodVetoed: vetoed.good,
    used: run.used,
  };
}
