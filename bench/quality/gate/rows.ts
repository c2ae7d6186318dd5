import { parseConfig } from '../../../src/core/config.ts';
import { mean, sum } from '../interval.ts';
import { type Row, SHOWN_ONLY } from '../row.ts';
import type { Cell, Gate, Sums } from './cell.ts';
import type { TrainCosts } from './proposer.ts';
import type { Kind } from './stream.ts';

/** Cells that belong together, and the rows they give. `byGate` has one entry per world. */
export type CellGroup = {
  readonly cells: readonly Cell[];
  rows(byGate: ByGate): Row[];
  /** Only groups that the chart shows. */
  readonly label?: string;
};

export type ByGate = Readonly<Record<Gate, readonly Sums[]>>;

/** No seed of this range was used to choose a setting: that was done on seeds from five million on. */
const FIRST_SEED = 1_000;
/** Runs with a gain of 15 points or more needed to speak of their claims. */
const ENOUGH_RUNS = 20;

type CellSpec = Pick<Cell, 'n' | 'kind' | 'budget' | 'seeds'>;

function cellsOf(gate: Gate, spec: CellSpec, train?: TrainCosts): Cell[] {
  return [0, 1, 2, 3].map((world) => ({ gate, world, ...spec, firstSeed: FIRST_SEED, ...(train ? { train } : {}) }));
}

const points = (values: readonly number[], digits = 1) =>
  values.map((value) => (100 * value).toFixed(digits)).join(' · ');
const times = (values: readonly number[]) => values.map((value) => value.toFixed(2)).join(' · ');

/** What rows and chart are made of: the three mixes, and with the null world where there are four. */
export function figuresOf(strict: readonly Sums[], ours: readonly Sums[]) {
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
    strictGainHalfWidth: strict.slice(0, 3).map((w) => 1.96 * errorOf(w)),
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

export type Figures = ReturnType<typeof figuresOf>;

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
export function mainGroup(seeds: number): CellGroup {
  const spec: CellSpec = { n: 40, kind: 'binary', budget: 1000, seeds };
  return {
    label: '40 binary',
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
export function otherGroup(n: number, kind: Kind, seeds: number): CellGroup {
  const spec: CellSpec = { n, kind, budget: 25 * n, seeds };
  const isTiny = n < 12;
  return {
    label: `${n} ${kind}`,
    cells: [...cellsOf('strict', spec), ...cellsOf('default', spec)],
    rows({ strict, default: ours }) {
      const figures = figuresOf(strict, ours);
      const { holds, text } = honesty(figures, !isTiny);
      const { ratios, strictGain, gain } = figures;
      const gains: Row = {
        what: `n ${n} ${kind}: true gain`,
        goal: isTiny ? SHOWN_ONLY : '≥ 1.0 × in each mix',
        measured: `[${times(ratios)}]: ${points(strictGain)} → ${points(gain)} points`,
        ...(isTiny ? {} : { holds: Math.min(...ratios) >= 1 }),
        figures,
      };
      return [gains, { what: `n ${n} ${kind}: honesty`, goal: 'as for n 40', measured: text, holds, figures }];
    },
  };
}

export function racingGroup(seeds: number): CellGroup {
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

/** The default gate with the regression veto, beside the same without it. */
export function vetoGroup(seeds: number): CellGroup {
  const spec: CellSpec = { n: 40, kind: 'binary', budget: 1000, seeds };
  return {
    cells: [...cellsOf('default', spec), ...cellsOf('veto', spec)],
    rows({ default: without, veto }) {
      const figures = {
        ...figuresOf(without, veto),
        stopped: (['null', 'harmful', 'good'] as const).map(stoppedShare),
      };
      const { ratios, strictGain, gain } = figures;
      const row = (what: string, measured: string): Row => ({ what, goal: SHOWN_ONLY, measured, figures });
      return [
        row(
          'n 40 binary: regression veto, without → with: true gain',
          `[${times(ratios)}]: ${points(strictGain)} → ${points(gain)} points`,
        ),
        row(
          'n 40 binary: regression veto: edits accepted',
          `null ${points([figures.strictNull])} → ${points([figures.null])} %, harmful ${points([figures.strictHarmfulPooled], 2)} → ${points([figures.harmfulPooled], 2)} %`,
        ),
        row(
          'n 40 binary: regression veto: stopped of those that won',
          `null, harmful, good ${points(figures.stopped)} %`,
        ),
      ];

      function stoppedShare(type: 'null' | 'harmful' | 'good'): number {
        const stopped = sum(veto.map((world) => world[`${type}Vetoed`]));
        return stopped / Math.max(1, stopped + sum(veto.map((world) => world[`${type}Accepted`])));
      }
    },
  };
}

const TRAIN_ITEMS = { trainItems: 80, reusedFactor: 0.5 };
/** The paper's batch, and one proposal from it. */
const STRICT_TRAIN = { ...TRAIN_ITEMS, batch: 40, proposals: 1 };
/** What the trainer does if nobody says otherwise. */
const { batchSize, proposalsPerBatch } = parseConfig();
const DEFAULT_TRAIN = { ...TRAIN_ITEMS, batch: batchSize, proposals: proposalsPerBatch };

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
export function wholeRunGroup({
  what,
  budget,
  seeds,
  leastRatio,
  both,
  ours: own,
  gate = 'default',
}: WholeRun): CellGroup {
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
        goal: leastRatio === undefined ? SHOWN_ONLY : `≥ ${leastRatio} × in each mix`,
        measured: `${times([mean(ratios)])} × [${times(ratios)}]: ${points(strictGain)} → ${points(gain)} points, ${proposed} proposals`,
        ...(leastRatio === undefined ? {} : { holds: Math.min(...ratios) >= leastRatio }),
        figures,
      };
      const { holds, text } = honesty(figures, true);
      const honest = leastRatio === undefined ? { goal: SHOWN_ONLY } : { goal: 'as for n 40', holds };
      return [gains, { what: `${what}: honesty`, measured: text, figures, ...honest }];
    },
  };
}
