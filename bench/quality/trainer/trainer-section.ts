import { type Interval, meanInterval, ratioInterval } from '../interval.ts';
import { runAll } from '../pool.ts';
import { type Row, SHOWN_ONLY } from '../row.ts';
import type { BenchOptions, Section } from '../section.ts';
import { EASY_OPTIMIZER, HARD_OPTIMIZERS, OPTIMIZERS, SIDES, SIZES, type Side, type Size } from './setting.ts';
import type { WholeRunFigures, WholeRunInput } from './train-whole-run.ts';

/** No seed of this range was used to choose an epoch count or a world. */
const FIRST_SEED = 1001;
/** Claims in the null world are few: more runs, shorter ones, and of the side that promises. */
const NULL_SIZE = SIZES.at(-1)!;
const NULL_RUNS: Readonly<Record<Side, number>> = { paper: 2, default: 6 };

type Figure = keyof WholeRunFigures;
/** Of these optimizers. */
type RunsOf = (optimizers: readonly number[]) => Runs;
type Runs = Readonly<Record<Side, readonly WholeRunFigures[]>>;

/** Whole runs of the real trainer in the simulated world: the paper's protocol and the default, at equal target calls. */
export const trainerSection: Section = {
  name: 'trainer',
  async run(options, say) {
    const inputs = SIZES.flatMap((size) => inputsOf(size, options));
    const figures = await runAll('whole-run', inputs, { costOf: ({ epochs }) => epochs, say });
    const runsOf = (size: Size, isWanted: (input: WholeRunInput) => boolean): Runs => {
      const of = (side: Side) =>
        figures.filter((_, index) => {
          const input = inputs[index]!;
          return input.side === side && input.epochs === size.epochs[side] && isWanted(input);
        });
      return { paper: of('paper'), default: of('default') };
    };
    const rows = SIZES.flatMap((size) =>
      sizeRows(size, (wanted) => runsOf(size, ({ optimizer, isNull }) => !isNull && wanted.includes(optimizer))),
    );
    return { rows: [...rows, nullRow(runsOf(NULL_SIZE, ({ isNull }) => isNull))] };
  },
};

function inputsOf(size: Size, options: BenchOptions): WholeRunInput[] {
  const { isQuick, from = FIRST_SEED, seeds = isQuick ? 3 : 30 } = options;
  const range = (count: number) => Array.from({ length: count }, (_, index) => from + index);
  const nulls = (side: Side) => (size === NULL_SIZE ? NULL_RUNS[side] * seeds : 0);
  return SIDES.flatMap((side) => {
    // The same worlds for both sides, so that they can be compared in pairs.
    const worlds = OPTIMIZERS.flatMap((_, optimizer) =>
      range(seeds).map((seed) => ({ optimizer, seed, isNull: false })),
    );
    const nullWorlds = range(nulls(side)).map((seed) => ({ optimizer: 0, seed, isNull: true }));
    return [...worlds, ...nullWorlds].map((world) => ({ ...world, side, epochs: size.epochs[side] }));
  });
}

function sizeRows({ calls, leastRatio }: Size, runsOf: RunsOf): Row[] {
  const name = `${calls.toLocaleString('en')} target calls`;
  const runs = runsOf(HARD_OPTIMIZERS);
  const of = (figure: Figure) => both(runs, (side) => meanInterval(valuesOf(side, figure)));
  const share = (over: Figure, under: Figure) =>
    both(runs, (side) => ratioInterval(valuesOf(side, over), valuesOf(side, under)));
  const row = (what: string, text: string, measures: Both, promise: Goal = {}): Row => ({
    what: `${name}: ${what}`,
    goal: promise.goal ?? SHOWN_ONLY,
    measured: text,
    ...(promise.holds === undefined ? {} : { holds: promise.holds }),
    figures: flat(measures),
  });
  const shown = (what: string, figure: Figure) => row(what, inWords(of(figure), whole), of(figure));
  const [error, coverage, targetCalls] = [of('error'), of('covers'), of('targetCalls')];
  return [
    gainRow(`${name}: true gain`, HARD_OPTIMIZERS, runsOf, leastRatio),
    row('made', inWords(targetCalls, whole), targetCalls, {
      goal: 'ours not more',
      holds: targetCalls.default.mean <= targetCalls.paper.mean,
    }),
    row('reported − true, points', inWords(error, points), error, {
      goal: '± 1 point',
      holds: Math.abs(error.default.mean) <= 0.01,
    }),
    row('95 % interval covers', `${spread(coverage.default, points)} %`, coverage, {
      goal: '≥ 92 %',
      holds: coverage.default.mean >= 0.92,
    }),
    row('runs that claim, %', inWords(of('claims'), points), of('claims')),
    ...(['null', 'harmful'] as const).map((kind) => {
      const accepted = share(`${kind}Accepted`, `${kind}Offered`);
      return row(`${kind} candidates accepted, %`, inWords(accepted, points), accepted);
    }),
    shown('candidates', 'offered'),
    shown('optimizer calls', 'optimizerCalls'),
    shown('optimizer tokens', 'optimizerTokens'),
    gainRow(`${name}, an easy optimizer: true gain`, [EASY_OPTIMIZER], runsOf),
  ];
}

type Both = Readonly<Record<Side, Interval>>;
type Goal = { readonly goal?: string; readonly holds?: boolean };

function gainRow(what: string, optimizers: readonly number[], runsOf: RunsOf, leastRatio?: number): Row {
  const runs = runsOf(optimizers);
  const gain = both(runs, (side) => meanInterval(valuesOf(side, 'gain')));
  const ratio = gainRatio(runs);
  const ratios = optimizers.map((optimizer) => gainRatio(runsOf([optimizer])).mean);
  return {
    what,
    measured: `${spread(ratio, times)} × [${ratios.map(times).join(' · ')}]: ${inWords(gain, points)} points`,
    figures: { ...flat(gain), ratio: listed(ratio), ratios, onNewTasks: SIDES.map((side) => newTasks(runs[side])) },
    ...(leastRatio === undefined
      ? { goal: SHOWN_ONLY }
      : { goal: `≥ ${leastRatio} ×`, holds: ratio.mean >= leastRatio }),
  };
}

const gainRatio = (runs: Runs) => ratioInterval(valuesOf(runs.default, 'gain'), valuesOf(runs.paper, 'gain'));
const newTasks = (runs: readonly WholeRunFigures[]) => meanInterval(valuesOf(runs, 'gainOnNewTasks')).mean;

function nullRow(runs: Runs): Row {
  const claims = both(runs, (side) => meanInterval(valuesOf(side, 'claims')));
  const error = both(runs, (side) => meanInterval(valuesOf(side, 'error')));
  const coverage = meanInterval(valuesOf(runs.default, 'covers'));
  const accepted = both(runs, (side) => ratioInterval(valuesOf(side, 'nullAccepted'), valuesOf(side, 'nullOffered')));
  return {
    what: `${NULL_SIZE.calls} target calls, null world: runs that claim, %`,
    goal: '≤ 4 %',
    measured:
      `${inWords(claims, points)}; reported − true ${inWords(error, points)}, ` +
      `covers ${points(coverage.mean)}, null accepted ${inWords(accepted, points)}`,
    holds: claims.default.mean <= 0.04,
    figures: { ...flat(claims), error: listed(error.default), coverage: listed(coverage) },
  };
}

function both(runs: Runs, measure: (side: readonly WholeRunFigures[]) => Interval): Both {
  return { paper: measure(runs.paper), default: measure(runs.default) };
}

const valuesOf = (runs: readonly WholeRunFigures[], figure: Figure) => runs.map((run) => run[figure]);
const listed = ({ mean, low, high }: Interval) => [mean, low, high];
const flat = (measures: Both) => ({ paper: listed(measures.paper), default: listed(measures.default) });

const points = (value: number) => (100 * value).toFixed(1).replace('-', '−');
const whole = (value: number) => Math.round(value).toLocaleString('en');
const times = (value: number) => value.toFixed(2);

type Format = (value: number) => string;

function spread({ mean, low, high }: Interval, format: Format): string {
  return `${format(mean)} (${format(low)} to ${format(high)})`;
}

function inWords(measures: Both, format: Format): string {
  return `${spread(measures.paper, format)} → ${spread(measures.default, format)}`;
}
