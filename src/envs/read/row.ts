import type { Item } from '../../core/contracts/index.ts';
import { tasksInvalid } from './tasks-invalid.ts';

/** A task as a file holds it. */
export type Row<T = unknown> = {
  readonly value: T;
  /** File and line where the task begins, such as `tasks.jsonl:17`. */
  readonly where: string;
  /** The split that the file names for it, as it is written there. */
  readonly split?: string;
};

/** Rows whose split stands among their fields, with it beside them. */
export function takeSplits(rows: readonly Row[]): Row[] {
  return rows.map((row) => {
    const { value } = row;
    if (typeof value !== 'object' || value === null || !('split' in value) || row.split !== undefined) return row;
    const { split, ...rest } = value;
    return { ...row, value: rest, ...(split == null ? {} : { split: String(split) }) };
  });
}

/** Throws when two rows have one id: a task in two splits would be trained on and then measured. */
export function checkUniqueIds(rows: readonly Row<Item>[]): void {
  const places = new Map<string, string>();
  const problems: string[] = [];
  for (const { value, where } of rows) {
    const earlier = places.get(value.id);
    if (earlier === undefined) places.set(value.id, where);
    else problems.push(`${earlier} and ${where} share the id ${JSON.stringify(value.id)}`);
  }
  if (problems.length > 0) throw tasksInvalid(problems, 'Give every task an id of its own, in all splits together.');
}
