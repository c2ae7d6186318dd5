import type { Item } from '../../core/contracts/index.ts';
import { checkUniqueIds, type Row } from '../read/row.ts';
import { tasksInvalid } from '../read/tasks-invalid.ts';
import { KNOWN_SPLITS, type SplitName, toSplitName } from './split-name.ts';
import { drawSplits, type SplitOptions, type Splits } from './split-ratio.ts';

/**
 * Each row's task in exactly one split, in the order of the rows: where its row says, or, if no row says anything, by
 * ratio after a shuffle with the seed. Throws `TASKS_INVALID` for an unknown split, for rows of which only some name
 * one, and for an id that occurs twice.
 */
export function splitItems<T extends Item>(rows: readonly Row<T>[], options: SplitOptions): Splits<T> {
  checkUniqueIds(rows);
  const names = rows.some((row) => row.split !== undefined) ? namedSplits(rows) : drawnSplits(rows.length, options);
  const itemsOf = (name: SplitName) => rows.filter((_, index) => names[index] === name).map((row) => row.value);
  return { train: itemsOf('train'), val: itemsOf('val'), test: itemsOf('test') };
}

function namedSplits(rows: readonly Row[]): (SplitName | undefined)[] {
  const missing = rows.filter((row) => row.split === undefined);
  if (missing[0]) {
    const problem = `${missing[0].where}: ${missing.length} of ${rows.length} rows have no "split", this one first`;
    throw tasksInvalid([problem], 'Give every row a split, or none to have them split by ratio.');
  }
  const unknown = rows.filter((row) => !toSplitName(row.split!));
  if (unknown.length > 0)
    throw tasksInvalid(unknown.map(describeUnknown), 'train is learned from, val decides, test is only reported.');
  return rows.map((row) => toSplitName(row.split!));
}

function describeUnknown({ where, split }: Row): string {
  return `${where}: "split" must be one of ${KNOWN_SPLITS}, got ${JSON.stringify(split)}`;
}

function drawnSplits(total: number, options: SplitOptions): SplitName[] {
  const names: SplitName[] = Array(total);
  for (const [name, indices] of Object.entries(drawSplits(total, options)) as [SplitName, number[]][]) {
    for (const index of indices) names[index] = name;
  }
  return names;
}
