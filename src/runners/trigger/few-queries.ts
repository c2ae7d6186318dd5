import { plural } from '../../core/text/index.ts';
import type { TriggerQuery } from './trigger-query.ts';

/** Of each kind, where scores are made: with five of each, one query is ten points. */
const LEAST_OF_A_KIND = 5;
const MEASURING = ['val', 'test'] as const;

type Queries = Readonly<Record<string, readonly TriggerQuery[]>>;

/** What to know before anything is paid for a score that one query decides. A split that is not there is not asked for. */
export function fewQueries(items: Queries): string[] {
  const short = MEASURING.filter((split) => items[split] && leastOfAKind(items[split]) < LEAST_OF_A_KIND);
  if (short.length === 0) return [];
  const counts = short.map((split) => `${split} has ${countsOf(items[split]!)}`).join(', ');
  return [
    `Few queries: ${counts}. At least ${LEAST_OF_A_KIND} of each kind in val and in test are advised: with fewer, one query moves a score by more than ten points. Add queries of both kinds.`,
  ];
}

const ofKind = (queries: readonly TriggerQuery[], kind: boolean) =>
  queries.filter(({ shouldTrigger }) => shouldTrigger === kind).length;

const leastOfAKind = (queries: readonly TriggerQuery[]) => Math.min(ofKind(queries, true), ofKind(queries, false));

const countsOf = (queries: readonly TriggerQuery[]) =>
  `${plural(ofKind(queries, true), 'query', 'queries')} that should load the skill and ${ofKind(queries, false)} that should not`;
