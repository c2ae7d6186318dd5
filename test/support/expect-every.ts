import { expect } from 'vitest';

/** That something holds for each of a list. An empty list proves nothing, so it fails; what breaks the rule is shown. */
export function expectEvery<T>(list: readonly T[], holds: (one: T) => unknown): void {
  expect(list, 'an empty list proves nothing').not.toEqual([]);
  expect(list.filter((one) => !holds(one))).toEqual([]);
}
