import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  BLOCK,
  blocksOf,
  COLUMN,
  HEAD,
  placeAt,
  ROW,
  scrollFor,
  windowOf,
  within,
} from '../../../src/web/parts/grid-geometry.ts';

it('shows the cells that fit, from the one that is scrolled to', () => {
  expect(windowOf(0, 240, ROW, 10_000)).toEqual({ from: 0, to: 10 });
  expect(windowOf(100 * ROW + 5, 250, ROW, 10_000)).toEqual({ from: 100, to: 111 });
  expect(windowOf(99_999_999, 240, ROW, 10_000)).toEqual({ from: 9_999, to: 10_000 });
  expect(windowOf(0, 240, ROW, 0)).toEqual({ from: 0, to: 0 });
});

it('shows no cell that a filter has taken away', () => {
  expect(within({ from: 10, to: 30 }, 12)).toEqual({ from: 10, to: 12 });
  expect(within({ from: 10, to: 30 }, 1)).toEqual({ from: 1, to: 1 });
});

it('finds the cell under a point', () => {
  const [rows, columns] = [
    { from: 100, to: 110 },
    { from: 40, to: 60 },
  ];
  expect(placeAt(1, HEAD + 1, rows, columns)).toEqual({ row: 100, column: 40 });
  expect(placeAt(2 * COLUMN, HEAD + 3 * ROW, rows, columns)).toEqual({ row: 103, column: 42 });
  expect(placeAt(1, HEAD - 1, rows, columns)).toBeUndefined();
  expect(placeAt(30 * COLUMN, HEAD, rows, columns)).toBeUndefined();
});

it('scrolls so that the chosen cell is in sight, and no further', () => {
  const size = fc.integer({ min: ROW, max: 2_000 });
  const count = fc.integer({ min: 1, max: 10_000 });
  fc.assert(
    fc.property(size, count, fc.nat(), fc.nat(), (pixels, all, start, wanted) => {
      const index = wanted % all;
      const before = windowOf(start % (all * ROW), pixels, ROW, all);
      const after = windowOf(scrollFor(index, before, ROW), pixels, ROW, all);
      expect(index).toBeGreaterThanOrEqual(after.from);
      expect(index).toBeLessThan(Math.max(after.to, after.from + 1));
    }),
  );
});

it('asks for whole blocks of columns', () => {
  expect(blocksOf({ from: 0, to: BLOCK })).toEqual([0]);
  expect(blocksOf({ from: BLOCK - 1, to: BLOCK + 1 })).toEqual([0, 1]);
  expect(blocksOf({ from: 0, to: 0 })).toEqual([0]);
});
