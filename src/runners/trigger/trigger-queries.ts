import { z } from 'zod';
import { askedKey, plural } from '../../core/text/index.ts';
import { type Splits, splitItems, withContentIds } from '../../envs/index.ts';
import { type LeftOut, loadItems, parseRows, type Row, takeSplits, withTwins } from '../../imports/index.ts';

/** Something that a user might say, and whether the skill is for it. */
export const TriggerQuery = z.preprocess(
  (value) => {
    if (typeof value !== 'object' || value === null || !('should_trigger' in value)) return value;
    const { should_trigger: shouldTrigger, ...rest } = value;
    return { ...rest, shouldTrigger };
  },
  z.strictObject({
    id: z.coerce.string().min(1),
    query: z.string('must be text').min(1, 'must be non-empty text'),
    shouldTrigger: z.boolean('must be true or false'),
  }),
);
export type TriggerQuery = z.output<typeof TriggerQuery>;

type Division = { readonly ratio?: string; readonly seed: number };

/** Labelled queries of a file, divided. Validation and test have as many of one label as of the other. */
export async function loadTriggerQueries(path: string, division: Division): Promise<Splits<TriggerQuery>> {
  const { rows } = await readQueries(path);
  return divideQueries(rows, division);
}

/** All queries of a file, checked, each with its place; equal ones are one. */
export async function readQueries(path: string) {
  const told: LeftOut[] = [];
  const { rows, leftOut } = withContentIds(takeSplits(await loadItems(path, told)), ({ query }) => query);
  const hint = 'A query is a line such as {"query": "Fill in this PDF form", "should_trigger": true}.';
  const parsed = parseRows(rows, { schema: TriggerQuery, hint });
  return { rows: withTwins(parsed, ({ query }) => askedKey(query)), leftOut: [...told, ...leftOut] };
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

/** With five of each kind, one query is ten points of a score. */
const LEAST_OF_A_KIND = 5;

/** A warning about splits in which one query decides the score. A split that is missing is not asked for. */
export function fewQueries(items: Readonly<Record<string, readonly TriggerQuery[]>>): string[] {
  const counts = ['val', 'test'].flatMap((split) => {
    const queries = items[split];
    if (queries === undefined) return [];
    const positive = queries.filter(({ shouldTrigger }) => shouldTrigger).length;
    const negative = queries.length - positive;
    if (Math.min(positive, negative) >= LEAST_OF_A_KIND) return [];
    return [
      `${split} has ${plural(positive, 'query', 'queries')} that should load the skill and ${negative} that should not`,
    ];
  });
  if (counts.length === 0) return [];
  return [
    `Few queries: ${counts.join(', ')}. At least ${LEAST_OF_A_KIND} of each kind in val and in test are advised: with fewer, one query moves a score by more than ten points. Add queries of both kinds.`,
  ];
}
