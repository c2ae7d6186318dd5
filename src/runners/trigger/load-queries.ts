import { type Splits, splitItems, withContentIds } from '../../envs/index.ts';
import { loadItems, parseRows, type Row, takeSplits } from '../../imports/index.ts';
import { TRIGGER_QUERY_HINT, TriggerQuery } from './trigger-query.ts';

type Division = { readonly ratio?: string; readonly seed: number };

/** Labelled queries of a file, divided. To measure with, there are as many of one label as of the other. */
export async function loadTriggerQueries(path: string, division: Division): Promise<Splits<TriggerQuery>> {
  const { rows } = await readQueries(path);
  return divideQueries(rows, division);
}

/** All of them, checked, each with its place; equal ones are one. */
export async function readQueries(path: string) {
  const { rows, leftOut } = withContentIds(takeSplits(await loadItems(path)), ({ query }) => query);
  return { rows: parseRows(rows, { schema: TriggerQuery, hint: TRIGGER_QUERY_HINT }), leftOut };
}

export function divideQueries(rows: readonly Row<TriggerQuery>[], division: Division): Splits<TriggerQuery> {
  const labelled = (label: boolean) => rows.filter(({ value }) => value.shouldTrigger === label);
  const [yes, no] = [splitItems(labelled(true), division), splitItems(labelled(false), division)];
  return { train: [...yes.train, ...no.train], val: asMany(yes.val, no.val), test: asMany(yes.test, no.test) };
}

/** Otherwise a skill that always loads, or never, would score more than a half. */
function asMany<T>(some: readonly T[], others: readonly T[]): T[] {
  const least = Math.min(some.length, others.length);
  return [...some.slice(0, least), ...others.slice(0, least)];
}
