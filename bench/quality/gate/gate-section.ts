import { runAll } from '../pool.ts';
import type { Row } from '../row.ts';
import type { BenchOptions, Section } from '../section.ts';
import type { ExactRacing, ExactRacingInput } from './exact-racing.ts';
import type { JumpInput, JumpResult } from './jump.ts';
import { MIXES } from './stream.ts';

const FIRST_SEED = 1_000;
const SIZES = [8, 17, 20, 40, 100, 200];
const NOISES = [0, 0.02, 0.05, 0.1, 0.3];

/** The gates alone: useless edits after a large gain, and the exact race of the strict gate. */
export const gateSection: Section = {
  name: 'gate',
  async run(options, say) {
    const jumps = NOISES.flatMap((noise) => SIZES.map((n) => jumpInput(n, noise, options)));
    const counted = await runAll('jump', jumps, { costOf: ({ n, seeds }) => n * seeds, say });
    const races = MIXES.map((_, mix): ExactRacingInput => ({ mix, n: 40, ...seedsOf(300, options) }));
    const raced = await runAll('exact-racing', races, { say });
    return { rows: [...jumps.map((input, place) => jumpRow(input, counted[place]!)), racingRow(raced)] };
  },
};

function seedsOf(usual: number, { isQuick, from = FIRST_SEED, seeds }: BenchOptions) {
  return { from, seeds: seeds ?? Math.ceil(usual / (isQuick ? 16 : 1)) };
}

/** Few of the small sets accept anything: they need more runs to be told apart. */
const jumpInput = (n: number, noise: number, options: BenchOptions): JumpInput => {
  return { n, noise, ...seedsOf(n < 50 ? 1000 : 300, options) };
};

function jumpRow({ n, noise, seeds }: JumpInput, { strict, ours }: JumpResult): Row {
  const perRun = (count: number) => (count / seeds).toFixed(2);
  return {
    what: `jump 0.2 → 1.0, then 15 useless edits, n ${n}, noise ${noise}: accepted`,
    goal: noise === 0 ? '0' : 'not more than the strict gate',
    measured: `${perRun(strict)} → ${perRun(ours)} a run`,
    holds: noise === 0 ? ours === 0 : ours <= strict,
    figures: { strict: strict / seeds, ours: ours / seeds },
  };
}

function racingRow(raced: readonly ExactRacing[]): Row {
  const saved = raced.map(({ used, full }) => 1 - used / full);
  const differ = raced.reduce((sum, one) => sum + one.differ, 0);
  return {
    what: 'strict gate, exact racing, 8 in flight, n 40',
    goal: '≥ 40 % saved, 0 differ',
    measured: `${saved.map((share) => (100 * share).toFixed(1)).join(' · ')} % saved, ${differ} differ`,
    holds: Math.min(...saved) >= 0.4 && differ === 0,
    figures: { saved, differ },
  };
}
