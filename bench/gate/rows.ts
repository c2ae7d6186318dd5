import type { Cell, Gate, Sums } from './cell.ts';
import type { TrainCosts } from './proposer.ts';
import type { Kind } from './stream.ts';

/** One line of the table: what was promised, what came out. */
export type Row = {
  readonly what: string;
  readonly goal: string;
  readonly measured: string;
  readonly holds: boolean;
  readonly figures: Readonly<Record<string, number | readonly number[]>>;
};

/** Cells that belong together, and the rows they give. `byGate` has one entry per world. */
export type Section = {
  readonly cells: readonly Cell[];
  rows(byGate: Readonly<Record<Gate, readonly Sums[]>>): Row[];
};

/** No seed of this range was used to choose a setting: that was done on seeds from five million on. */
const FIRST_SEED = 1_000;
/** Runs with a gain of 15 points or more needed to speak of their claims. */
const ENOUGH_RUNS = 20;

type CellSpec = Pick<Cell, 'n' | 'kind' | 'budget' | 'seeds'>;

function cellsOf(gate: Gate, spec: CellSpec, train?: TrainCosts): Cell[] {
  return [0, 1, 2, 3].map((world) => ({ gate, world, ...spec, firstSeed: FIRST_SEED, ...(train ? { train } : {}) }));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;
const points = (values: readonly number[], digits = 1) =>
  values.map((value) => (100 * value).toFixed(digits)).join(' · ');
const times = (values: readonly number[]) => values.map((value) => value.toFixed(2)).join(' · ');

/** What a section's figures are made of. */
function figuresOf(strict: readonly Sums[], ours: readonly Sums[]) {
  const gain = (sums: readonly Sums[]) => sums.slice(0, 3).map((world) => world.gain / world.runs);
  const harmful = (sums: readonly Sums[]) =>
    sums.slice(0, 3).map((w) => w.harmfulAccepted / Math.max(1, w.harmfulOffered));
  const nulls = (sums: readonly Sums[]) => sum(sums.map((w) => w.nullAccepted)) / sum(sums.map((w) => w.nullOffered));
  const pooledHarmful = (sums: readonly Sums[]) =>
    sum(sums.map((w) => w.harmfulAccepted)) / sum(sums.map((w) => w.harmfulOffered));
  const ratios = gain(ours).map((value, i) => value / gain(strict)[i]!);
  const errorOf = (w: Sums) => Math.sqrt((w.gainSquares / w.runs - (w.gain / w.runs) ** 2) / w.runs);
  return {
    strictGain: gain(strict),
    gain: gain(ours),
    gainHalfWidth: ours.slice(0, 3).map((w) => 1.96 * errorOf(w)),
    ratios,
    strictNull: nulls(strict),
    null: nulls(ours),
    strictHarmful: harmful(strict),
    harmful: harmful(ours),
    strictHarmfulPooled: pooledHarmful(strict),
    harmfulPooled: pooledHarmful(ours),
    strictError: strict.map((w) => w.error / w.runs),
    error: ours.map((w) => w.error / w.runs),
    coverage: ours.map((w) => w.covers / w.runs),
    gainCoverage: ours.map((w) => w.gainCovers / w.runs),
    strictNullClaims: strict[3]!.claims / strict[3]!.runs,
    nullClaims: ours[3]!.claims / ours[3]!.runs,
    largeRuns: ours.slice(0, 3).map((w) => w.large),
    largeClaims: ours.slice(0, 3).map((w) => w.largeClaims / Math.max(1, w.large)),
    candidates: ours.slice(0, 3).map(candidatesOf),
  };
}

function candidatesOf({ runs, nullOffered, harmfulOffered, goodOffered }: Sums): number {
  return (nullOffered + harmfulOffered + goodOffered) / runs;
}

type Figures = ReturnType<typeof figuresOf>;

const isHalved = ({ strictHarmful, harmful }: Figures) => harmful.every((share, i) => share <= strictHarmful[i]! / 2);
const isNear = ({ error }: Figures) => error.every((value) => Math.abs(value) <= 0.01);
const isCovered = ({ coverage }: Figures) => Math.min(...coverage) >= 0.92;

/**
 * What must hold whatever the size and the kind of the scores. Harmful edits and coverage are pooled over the worlds here:
 * single worlds have too few of them with these seeds.
 */
function honesty(figures: Figures, withHarmful: boolean) {
  const parts = {
    null: figures.null <= 0.07,
    harmful: !withHarmful || figures.harmfulPooled <= figures.strictHarmfulPooled / 2,
    error: isNear(figures),
    coverage: mean(figures.coverage) >= 0.92,
    claims: figures.nullClaims <= 0.04,
  };
  const worst = figures.error.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a));
  const text =
    `null ${points([figures.strictNull])} → ${points([figures.null])}, harmful ${points([figures.strictHarmfulPooled], 2)} → ${points([figures.harmfulPooled], 2)}, ` +
    `error ${points([worst], 2)}, covers ${points([mean(figures.coverage)])} (worst world ${points([Math.min(...figures.coverage)])}), claims ${points([figures.nullClaims])}`;
  const broken = Object.entries(parts).flatMap(([name, isHeld]) => (isHeld ? [] : [name]));
  return { holds: broken.length === 0, text: broken.length === 0 ? text : `${text} (not: ${broken.join(', ')})` };
}

/** The rows of the set that is looked at most closely: 40 items, pass or fail. */
export function mainSection(seeds: number): Section {
  const spec: CellSpec = { n: 40, kind: 'binary', budget: 1000, seeds };
  return {
    cells: [...cellsOf('strict', spec), ...cellsOf('default', spec)],
    rows({ strict, default: ours }) {
      const figures = figuresOf(strict, ours);
      const { ratios, strictGain, gain, largeClaims, largeRuns } = figures;
      const enough = largeClaims.filter((_, i) => largeRuns[i]! >= ENOUGH_RUNS);
      const row = (what: string, goal: string, measured: string, holds: boolean): Row => ({
        what,
        goal,
        measured,
        holds,
        figures,
      });
      return [
        row(
          'n 40 binary: true gain in three mixes',
          '≥ 1.4 × mean, ≥ 1.2 × each',
          `${times([mean(ratios)])} × [${times(ratios)}]: ${points(strictGain)} → ${points(gain)} points`,
          mean(ratios) >= 1.4 && Math.min(...ratios) >= 1.2,
        ),
        row(
          'n 40 binary: null edits accepted',
          '≤ 7 %',
          `${points([figures.strictNull])} → ${points([figures.null])} %`,
          figures.null <= 0.07,
        ),
        row(
          'n 40 binary: harmful edits accepted',
          '≤ half of strict, each mix',
          `${points(figures.strictHarmful, 2)} → ${points(figures.harmful, 2)} %`,
          isHalved(figures),
        ),
        row(
          'n 40 binary: reported − true',
          '± 1 point, each world',
          `${points(figures.strictError)} → ${points(figures.error, 2)} points`,
          isNear(figures),
        ),
        row(
          'n 40 binary: 95 % interval covers',
          '≥ 92 %, each world',
          `${points(figures.coverage)} %`,
          isCovered(figures),
        ),
        row(
          'n 40 binary: null world, runs that claim',
          '≤ 4 %',
          `${points([figures.strictNullClaims])} → ${points([figures.nullClaims])} %`,
          figures.nullClaims <= 0.04,
        ),
        row(
          'n 40 binary: gain ≥ 15 points, runs that claim',
          '≥ 85 %, each mix',
          `${points(largeClaims)} % of ${largeRuns.join(' · ')} runs`,
          enough.length > 0 && Math.min(...enough) >= 0.85,
        ),
      ];
    },
  };
}

/** Other sizes and kinds of score. Eight items are too few to promise a gain, or to tell harm. */
export function otherSection(n: number, kind: Kind, seeds: number): Section {
  const spec: CellSpec = { n, kind, budget: 25 * n, seeds };
  const isTiny = n < 12;
  return {
    cells: [...cellsOf('strict', spec), ...cellsOf('default', spec)],
    rows({ strict, default: ours }) {
      const figures = figuresOf(strict, ours);
      const { holds, text } = honesty(figures, !isTiny);
      const { ratios, strictGain, gain } = figures;
      const gains: Row = {
        what: `n ${n} ${kind}: true gain`,
        goal: isTiny ? 'shown only' : '≥ 1.0 × in each mix',
        measured: `[${times(ratios)}]: ${points(strictGain)} → ${points(gain)} points`,
        holds: isTiny || Math.min(...ratios) >= 1,
        figures,
      };
      return [gains, { what: `n ${n} ${kind}: honesty`, goal: 'as for n 40', measured: text, holds, figures }];
    },
  };
}

export function racingSection(seeds: number): Section {
  return {
    cells: cellsOf('exact', { n: 40, kind: 'binary', budget: 1000, seeds }),
    rows({ exact }) {
      const saved = exact.map(({ used, full }) => 1 - used / full);
      const differ = sum(exact.map((world) => world.differ));
      return [
        {
          what: 'exact racing, 8 in flight, n 40',
          goal: '≥ 40 % saved, 0 differ',
          measured: `${points(saved)} % saved, ${differ} differ`,
          holds: Math.min(...saved) >= 0.4 && differ === 0,
          figures: { saved, differ },
        },
      ];
    },
  };
}

const TRAIN_ITEMS = { trainItems: 80, reusedFactor: 0.5 };
/** The paper's batch, and one proposal from it. */
const STRICT_TRAIN = { ...TRAIN_ITEMS, batch: 40, proposals: 1 };
const DEFAULT_TRAIN = { ...TRAIN_ITEMS, batch: 20, proposals: 4 };

export type WholeRun = {
  readonly what: string;
  readonly budget: number;
  readonly seeds: number;
  /** Least ratio in each mix; without one the row is shown only. */
  readonly leastRatio?: number;
  /** What differs from the defaults, on either side and on ours. */
  readonly both?: Partial<TrainCosts>;
  readonly ours?: Partial<TrainCosts>;
  readonly gate?: 'default' | 'patient';
};

/** Train rollouts cost too. Ours makes more of each batch. */
export function wholeRunSection({
  what,
  budget,
  seeds,
  leastRatio,
  both,
  ours: own,
  gate = 'default',
}: WholeRun): Section {
  const spec: CellSpec = { n: 40, kind: 'binary', budget, seeds };
  const shared = { isCached: true, ...both };
  return {
    cells: [
      ...cellsOf('strict', spec, { ...STRICT_TRAIN, ...shared }),
      ...cellsOf(gate, spec, { ...DEFAULT_TRAIN, ...shared, ...own }),
    ],
    rows({ strict, [gate]: ours }) {
      const figures = figuresOf(strict, ours);
      const { ratios, strictGain, gain } = figures;
      const proposed = [strict, ours].map((sums) => mean(sums.slice(0, 3).map(candidatesOf)).toFixed(0)).join(' → ');
      const gains: Row = {
        what,
        goal: leastRatio === undefined ? 'shown only' : `≥ ${leastRatio} × in each mix`,
        measured: `${times([mean(ratios)])} × [${times(ratios)}]: ${points(strictGain)} → ${points(gain)} points, ${proposed} proposals`,
        holds: Math.min(...ratios) >= (leastRatio ?? Number.NEGATIVE_INFINITY),
        figures,
      };
      const { holds, text } = honesty(figures, true);
      return [gains, { what: `${what}: honesty`, goal: 'as for n 40', measured: text, holds, figures }];
    },
  };
}
