import { isObject, jsonLine, plural, strip, textOf } from '../../core/text/index.ts';
import { type Row, tasksInvalid } from '../../imports/index.ts';
import { isBlank } from './qa-columns.ts';

/**
 * Rows with what a column of the file says of them as their group; `rows` are `raw` under our names. A list in a cell names several.
 * A row where it is blank belongs to no other. Where rows name their splits, nobody draws them, and all stay as they are.
 */
export function withGroups<R extends Row>(rows: readonly R[], raw: readonly Row[], column: string): readonly R[] {
  if (rows.some(({ split }) => split !== undefined)) return rows;
  const cells = raw.map(({ value }) => (isObject(value) ? namesIn(value[column]) : []));
  if (cells.every((names) => names.length === 0)) throw noGroups(raw, column);
  return rows.map((row, index) => {
    const group = cells[index]!.map((name) => `in ${name}`);
    return group.length === 0 ? row : { ...row, group };
  });
}

const namesIn = (cell: unknown): string[] =>
  [cell].flat().flatMap((one) => (isBlank(one) ? [] : strip(isObject(one) ? jsonLine(one) : textOf(one))));

function noGroups(raw: readonly Row[], column: string) {
  const known = new Set(raw.flatMap(({ value }) => (isObject(value) ? Object.keys(value) : [])));
  const name = JSON.stringify(column);
  const problem = known.has(column) ? `${name} is blank in all ${plural(raw.length, 'row')}` : `no row has ${name}`;
  const hint = `splitBy names a column of the task file. There is ${[...known].slice(0, 20).join(', ')}.`;
  return tasksInvalid([`splitBy: ${problem}`], hint);
}
