import { describe, expect, it } from 'vitest';
import { chunk, PythonRandom, shuffle } from '../../../src/core/contracts/index.ts';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe('shuffle', () => {
  it.each([
    [42, [7, 3, 2, 8, 5, 6, 9, 4, 0, 1]],
    [1042, [6, 4, 1, 9, 7, 8, 0, 5, 2, 3]],
    [2042, [1, 4, 6, 9, 8, 0, 7, 2, 3, 5]],
  ])('orders 0 to 9 by seed %i as Python does', (seed, order) => {
    expect(shuffle(range(0, 10), seed)).toEqual(order);
  });

  it('gives the batches of the reference: ten items, epoch 1, seed 42, four at a time', () => {
    expect(chunk(shuffle(range(0, 10), 42 + 1000), 4)).toEqual([
      [6, 4, 1, 9],
      [7, 8, 0, 5],
      [2, 3],
    ]);
    expect(shuffle(range(43, 49), 42 + 1000)).toEqual([46, 47, 43, 45, 48, 44]);
  });

  it.each([
    [13154253309490526428n, [1, 2, 0, 6, 7, 4, 3, 5]],
    [2n ** 64n + 5n, [7, 4, 3, 5, 0, 2, 6, 1]],
    [2n ** 100n + 1n, [0, 3, 2, 6, 7, 1, 5, 4]],
    [0n, [4, 1, 5, 2, 0, 3, 7, 6]],
  ])('orders 0 to 7 by the seed %s of any size as Python does', (seed, order) => {
    expect(shuffle(range(0, 8), seed)).toEqual(order);
  });

  it('leaves the list it was given alone', () => {
    const items = range(0, 10);
    shuffle(items, 1);
    expect(items).toEqual(range(0, 10));
    expect(shuffle([], 1)).toEqual([]);
    expect(shuffle(['one'], 1)).toEqual(['one']);
  });
});

describe('PythonRandom', () => {
  // Each row was printed by Python 3.11: three getrandbits(32), then random(), then five randrange(7).
  it.each([
    [0, [3626764237, 1654615998, 3255389356], 0.890243920837131, [0, 2, 4, 3, 3]],
    [1, [577090037, 2444712010, 3639700191], 0.8022650611681835, [0, 2, 0, 3, 6]],
    [-7, [1390851128, 4071050724, 647892279], 0.3948234964231735, [0, 0, 6, 4, 0]],
    [2 ** 32 - 1, [2728839433, 2661025012, 872737089], 0.21534345751528883, [4, 2, 4, 2, 3]],
    [2 ** 32, [485306839, 1508871100, 1794561286], 0.9347212762883035, [0, 4, 6, 6, 2]],
    [20251231235959, [311934046, 3487820471, 3316488494], 0.8449292051674235, [0, 4, 0, 1, 0]],
    [2 ** 53 - 1, [404802386, 2407860725, 957238923], 0.7525835200499853, [1, 0, 0, 0, 3]],
  ])('draws with seed %i what Python draws', (seed, words, float, numbers) => {
    const random = new PythonRandom(seed);
    expect(words.map(() => random.getRandBits(32))).toEqual(words);
    expect(random.random()).toBe(float);
    expect(numbers.map(() => random.randBelow(7))).toEqual(numbers);
  });

  it('draws on after the first 624 words', () => {
    const random = new PythonRandom(42);
    const words = range(0, 1300).map(() => random.getRandBits(32));
    expect([words[623], words[624], words[1299]]).toEqual([2929454134, 1071722055, 1463320861]);
  });
});

describe('chunk', () => {
  it('slices in order; the last slice may be shorter', () => {
    expect(chunk(range(0, 5), 2)).toEqual([[0, 1], [2, 3], [4]]);
    expect(chunk(range(0, 2), 5)).toEqual([[0, 1]]);
    expect(chunk([], 2)).toEqual([]);
  });

  it.each([0, -1, Number.NaN])('refuses slices of %d, which would never end', (size) => {
    expect(() => chunk([1], size)).toThrow(`a batch must hold at least 1, got ${size}`);
  });
});
