import { type CellValue, isSameValue, shownValue } from './cell-values.ts';
import { columnName, type Position, type Rectangle, rangesOf } from './ranges.ts';
import type { Sheet, Workbook } from './workbook.ts';

export type Comparison = {
  readonly isEqual: boolean;
  /** The position cannot be read, or names what the right workbook does not have: no workbook could be right. */
  readonly isError: boolean;
  /** What differs, in the order of columns: the first of it. */
  readonly differences: readonly string[];
  /** How many cells and sheets differ. */
  readonly differing: number;
};

type Asked = Omit<Position, 'sheetNames'>;

/** More are counted, and not described. */
const MOST_SHOWN = 20;

/** Whether a workbook has the values of the right one at the answer position. The work grows with the cells that are filled. */
export function compareWorkbooks(gold: Workbook, got: Workbook, asked: Asked): Comparison {
  const ranges = rangesOf({ ...asked, sheetNames: gold.sheetNames });
  if (ranges.length === 0 && asked.rule === 'repaired') return failed('the answer position names no cells');
  const differences: string[] = [];
  let differing = 0;
  for (const { sheet: name, cells, text } of ranges) {
    if (!got.sheetNames.includes(name) && (gold.sheetNames.includes(name) || asked.rule !== 'repaired')) {
      differing++;
      differences.push(`there is no sheet ${JSON.stringify(name)}`);
      continue;
    }
    const [right, ours] = [gold.sheets.get(name), got.sheets.get(name)];
    if (right === undefined) return failed(`the right workbook has no cells in a sheet ${JSON.stringify(name)}`);
    if (cells === undefined) return failed(`${JSON.stringify(text)} is no range of cells`);
    if (ours === undefined) return failed(`${JSON.stringify(name)} is no sheet of cells`);
    const found = compareCells(right, ours, cells);
    if (found.reach !== undefined) return failed(`${JSON.stringify(text)} goes beyond ${found.reach}`);
    differing += found.differences.length;
    differences.push(...found.differences.slice(0, MOST_SHOWN).map((one) => `${name}!${describe(one)}`));
  }
  return { isEqual: differing === 0, isError: false, differences: differences.slice(0, MOST_SHOWN), differing };
}

const failed = (why: string): Comparison => ({ isEqual: false, isError: true, differences: [why], differing: 0 });

type Difference = {
  readonly column: number;
  readonly row: number;
  readonly gold: CellValue | undefined;
  readonly got: CellValue | undefined;
};

const describe = ({ column, row, gold, got }: Difference): string =>
  `${columnName(column)}${row}: expected ${shownValue(gold)}, got ${shownValue(got)}`;

const [MOST_COLUMNS, MOST_ROWS] = [18_278, 1_048_576];

/**
 * The scripts look at one cell after the other, column by column. They fail at the first one that cannot exist, unless they have
 * found a difference before it.
 */
function compareCells(gold: Sheet, got: Sheet, cells: Rectangle) {
  const { left, top, right, bottom } = cells;
  if (right < left || bottom < top) return { differences: [], reach: undefined };
  if (left < 1 || top < 1) return { differences: [], reach: 'the first column or row' };
  const differences = differencesIn(gold, got, cells);
  const isTooLow = bottom > MOST_ROWS && Number.isFinite(bottom);
  const isTooWide = right > MOST_COLUMNS && Number.isFinite(right);
  const isSeenBefore = isTooLow ? differences.some(({ column }) => column === left) : differences.length > 0;
  const reach = (isTooLow || isTooWide) && !isSeenBefore ? 'the last column or row' : undefined;
  return { differences, reach };
}

/** Only filled cells can differ. */
function differencesIn(gold: Sheet, got: Sheet, { left, top, right, bottom }: Rectangle): Difference[] {
  const found: Difference[] = [];
  const note = (column: number, row: number) => {
    if (row < top || row > bottom || row > MOST_ROWS) return;
    const [one, other] = [gold.get(column)?.get(row), got.get(column)?.get(row)];
    if (!isSameValue(one, other)) found.push({ column, row, gold: one, got: other });
  };
  for (const column of new Set([...gold.keys(), ...got.keys()])) {
    if (column < left || column > right || column > MOST_COLUMNS) continue;
    const known = gold.get(column);
    for (const row of known?.keys() ?? []) note(column, row);
    for (const row of got.get(column)?.keys() ?? []) if (!known?.has(row)) note(column, row);
  }
  return found.sort((one, other) => one.column - other.column || one.row - other.row);
}
