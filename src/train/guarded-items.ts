import type { Item } from '../core/env.ts';
import type { GuardedItem } from '../core/stats/leak-critic.ts';
import type { RunItems } from './run-items.ts';

/** Fields under which tasks usually keep what only a judge may know. */
const ANSWER_KEYS = /^(gold|answers?|expected|labels?|references?|solutions?|targets?|checks?)$/i;

const guarded = new WeakMap<RunItems, readonly GuardedItem[]>();

/** Every task of a run as the leak critic reads it; the same objects each time, since it remembers them. */
export function guardedItems(items: RunItems): readonly GuardedItem[] {
  const known = guarded.get(items) ?? guardAll(items);
  guarded.set(items, known);
  return known;
}

function guardAll({ train, val, test }: RunItems): GuardedItem[] {
  const guard = (items: readonly Item[], split: GuardedItem['split']) =>
    items.map(({ id, ...rest }) => ({ id, split, ...sortTexts(rest) }));
  return [...guard(train, 'train'), ...guard(val, 'val'), ...guard(test, 'test')];
}

function sortTexts(fields: object): Pick<GuardedItem, 'texts' | 'answers'> {
  const entries = Object.entries(fields);
  const under = (isAnswer: boolean) =>
    entries.filter(([key]) => ANSWER_KEYS.test(key) === isAnswer).flatMap(([, value]) => textsIn(value));
  return { texts: under(false), answers: under(true) };
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
