import { type Item, SkillError } from '../../core/contracts/index.ts';
import { groupBy } from '../../core/text/index.ts';
import type { BaseDataLoader } from '../loader/base-data-loader.ts';
import type { ItemSource } from './item-source.ts';

/** The items of a loader. A batch holds items of one split, in their order, and no others. */
export function loaderSource(loader: BaseDataLoader, seed: number): ItemSource {
  // Asked for again on every batch, a split would be found by looking through all items.
  const splits = new Map<string, string>();
  const splitOf = ({ id }: Item) => splits.get(id) ?? 'train';
  const noteSplit = <I extends Item>(items: readonly I[], split: string) => {
    for (const { id } of items) splits.set(id, split);
    return items;
  };
  return {
    isOrdered: false,
    getItems: (split) => noteSplit(loader.getItems(split), split),
    planTrainEpoch: (plan) =>
      loader.planTrainEpoch(plan).map(({ payload }) => noteSplit(requireItems(payload), 'train')),
    batchesOf: (items) =>
      groupBy(items, splitOf).map((payload) => {
        const split = splitOf(payload[0]!);
        const phase = split === 'train' ? 'train' : 'eval';
        return { items: payload, batch: { phase, split, seed, batchSize: payload.length, payload, metadata: {} } };
      }),
  };
}

function requireItems(payload: unknown): readonly Item[] {
  if (Array.isArray(payload)) return payload;
  throw new SkillError('ENV_INVALID', `a planned batch must hold a list of items, got ${payload}`, {
    hint: 'Put the items into the payload of every batch that planTrainEpoch gives.',
  });
}
