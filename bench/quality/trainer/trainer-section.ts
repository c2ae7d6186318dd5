import { runAll } from '../pool.ts';
import type { BenchOptions, Section } from '../section.ts';
import { CELLS, type Cell, type Group } from './cells.ts';
import { nullRows } from './null-rows.ts';
import type { Runs } from './runs.ts';
import { NULL_SIZE, SIDES, SIZES, type Side, type Size } from './setting.ts';
import { sizeRows } from './size-rows.ts';
import type { WholeRunFigures, WholeRunInput } from './train-whole-run.ts';

/** No seed of this range was used to choose anything. */
const FIRST_SEED = 1001;
/** For each cell: thirty pairs of runs or more to a world. */
const SEEDS: Readonly<Record<Exclude<Group, 'null'>, number>> = { own: 12, rules: 9, easy: 15 };
const QUICK_SEEDS = 3;
/** Claims in a null world are few: many runs of the side that promises. */
const NULL_TIMES: Readonly<Record<Side, number>> = { paper: 1, default: 4 };

/** Whole runs of the real trainer in worlds whose truth is known: the naive peer and the default, at equal target calls. */
export const trainerSection: Section = {
  name: 'trainer',
  async run(options, say) {
    const inputs = SIZES.flatMap((size) => inputsOf(size, options));
    const figures = await runAll('whole-run', inputs, { costOf: ({ size }) => size, say });
    const runsAt = (size: Size) => (isWanted: (cell: Cell) => boolean) =>
      chooseRuns(inputs, figures, (input) => input.size === size && isWanted(input.cell));
    return { rows: [...SIZES.flatMap((size) => sizeRows(size, runsAt(size))), ...nullRows(runsAt(NULL_SIZE))] };
  },
};

function inputsOf(size: Size, options: BenchOptions): WholeRunInput[] {
  const { from = FIRST_SEED } = options;
  const cells = CELLS.filter(({ group }) => group !== 'null' || size === NULL_SIZE);
  return SIDES.flatMap((side) =>
    cells.flatMap((cell) =>
      // The same worlds for both sides, so that they can be compared in pairs.
      Array.from({ length: seedCount(cell, side, options) }, (_, index) => ({ side, size, cell, seed: from + index })),
    ),
  );
}

function seedCount({ group, world }: Cell, side: Side, { isQuick, seeds }: BenchOptions): number {
  const count = seeds ?? (isQuick ? QUICK_SEEDS : SEEDS[group === 'null' ? world : group]);
  return group === 'null' ? NULL_TIMES[side] * count : count;
}

function chooseRuns(
  inputs: readonly WholeRunInput[],
  figures: readonly WholeRunFigures[],
  isWanted: (input: WholeRunInput) => boolean,
): Runs {
  const of = (side: Side) => figures.filter((_, index) => inputs[index]!.side === side && isWanted(inputs[index]!));
  return { paper: of('paper'), default: of('default') };
}
