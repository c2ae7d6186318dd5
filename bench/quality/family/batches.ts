import { type Dice, shuffleIndexes } from '../gate/dice.ts';

/** Batches of training tasks, epoch after epoch, each epoch in an order of its own. */
export function* batchesOf(
  train: number,
  size: number,
  dice: Dice,
): Generator<{ tasks: number[]; isEpochStart: boolean }> {
  for (;;) {
    const order = shuffleIndexes(dice, train);
    for (let start = 0; start < train; start += size) {
      yield { tasks: order.slice(start, start + size), isEpochStart: start === 0 };
    }
  }
}
