import type { Item } from '../../core/contracts/index.ts';
import type { GuardedItem } from '../../core/guard/index.ts';
import type { RunItems } from '../setup/run-items.ts';

/** Fields under which tasks usually keep what only a judge may know. */
const ANSWER_KEYS =
  /^(gold|golden|truth|correct|answers?|expected|labels?|references?|solutions?|targets?|checks?|outputs?)$/;
/** The same in two words, such as ground_truth, goldAnswer and expected-output; written here as `plainKey` gives them. */
const LONGER_KEYS =
  /^(gold|golden|ground|correct|right|true|expected|reference|target|ideal|final|accepted)(truths?|answers?|outputs?|labels?|solutions?|results?|responses?|values?|texts?|choices?|options?)$/;

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

const plainKey = (key: string) => key.toLowerCase().replace(/[\s_-]/g, '');
const isAnswerKey = (key: string) => ANSWER_KEYS.test(plainKey(key)) || LONGER_KEYS.test(plainKey(key));

function sortTexts(fields: object): Pick<GuardedItem, 'texts' | 'answers'> {
  const found = stringsIn(fields, false);
  const under = (isAnswer: boolean) => found.filter((one) => one.isAnswer === isAnswer).map(({ text }) => text);
  return { texts: under(false), answers: under(true) };
}

type Found = { readonly text: string; readonly isAnswer: boolean };

/** Everything below a field of answers is an answer. Numbers are only read there: elsewhere they count and measure. */
function stringsIn(value: unknown, isAnswer: boolean): Found[] {
  if (typeof value === 'string') return [{ text: value, isAnswer }];
  if (typeof value === 'number' && isAnswer) return [{ text: String(value), isAnswer }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => stringsIn(inner, isAnswer || isAnswerKey(key)));
}
