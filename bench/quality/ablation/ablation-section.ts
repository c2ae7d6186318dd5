import type { SkillOptConfigInput } from '../../../src/index.ts';
import { type Interval, mean, meanInterval } from '../interval.ts';
import { runAll } from '../pool.ts';
import { type Row, SHOWN_ONLY } from '../row.ts';
import type { BenchOptions, Section } from '../section.ts';
import { COMPARISONS, type Comparison } from './comparisons.ts';
import { isOptimizerName, type OptimizerName } from './setting.ts';

const MOST_LOST = 1;
/** Worlds 1 to 60 were seen while the setting was chosen. */
const FIRST_SEED = 1001;

/** What each part of the optimizer is worth: trained with and without it, in the same worlds. */
export const ablationSection: Section = {
  name: 'ablation',
  async run(options, say) {
    const { optimizer } = options;
    if (!isOptimizerName(optimizer)) throw new Error(`no optimizer is called ${optimizer}`);
    const scoresOf = await trainAll(seedsOf(options), optimizer, say);
    const compared = COMPARISONS.map((comparison) => compare(comparison, scoresOf));
    const rows = compared.map(toRow);
    // What a control cannot gain it need not show.
    return { rows: optimizer === 'control' ? rows : [...rows, someGain(compared)] };
  },
};

function seedsOf({ isQuick, from = FIRST_SEED, seeds = isQuick ? 6 : 60 }: BenchOptions): number[] {
  return Array.from({ length: seeds }, (_, index) => from + index);
}

type ScoresOf = (config: SkillOptConfigInput) => readonly number[];

/** Each setting once, in the same worlds. */
async function trainAll(
  seeds: readonly number[],
  optimizer: OptimizerName,
  say: (progress: string) => void,
): Promise<ScoresOf> {
  const keys = [...new Set(COMPARISONS.flatMap(({ on, off }) => [on, off].map((config) => JSON.stringify(config))))];
  const trials = keys.flatMap((key) => seeds.map((seed) => ({ seed, optimizer, config: JSON.parse(key) })));
  const scores = await runAll('ablation', trials, { say });
  return (config) => {
    const first = keys.indexOf(JSON.stringify(config)) * seeds.length;
    return scores.slice(first, first + seeds.length);
  };
}

type Compared = Omit<Comparison, 'on' | 'off'> & Interval & { readonly scoreOn: number; readonly scoreOff: number };

function compare({ on, off, ...comparison }: Comparison, scoresOf: ScoresOf): Compared {
  const [scoresOn, scoresOff] = [scoresOf(on), scoresOf(off)];
  const differences = scoresOn.map((score, index) => score - scoresOff[index]!);
  return { ...comparison, ...meanInterval(differences), scoreOn: mean(scoresOn), scoreOff: mean(scoresOff) };
}

function toRow({ name: _name, what, kind, ...figures }: Compared): Row {
  const { mean: difference, low, high, scoreOn, scoreOff } = figures;
  const measured = `${signed(difference)} (${signed(low)} to ${signed(high)}): ${scoreOff.toFixed(1)} without, ${scoreOn.toFixed(1)} with`;
  const promise =
    kind === 'part' ? { goal: `≥ −${MOST_LOST} point`, holds: difference >= -MOST_LOST } : { goal: SHOWN_ONLY };
  return { what, measured, figures, ...promise };
}

function someGain(compared: readonly Compared[]): Row {
  const better = compared.filter(({ kind, low }) => kind === 'part' && low > 0).map(({ what }) => what);
  return {
    what: 'one part at least is better beyond its interval',
    goal: '≥ 1 part',
    measured: better.join(', ') || 'none',
    holds: better.length > 0,
    figures: { better: better.length },
  };
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`;
}
