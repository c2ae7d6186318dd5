import { join } from 'node:path';
import fc from 'fast-check';
import {
  extractAnswer,
  normalizeAnswer,
  planItems,
  planSeeds,
  SplitDataLoader,
  scoreAnswer,
  splitItems,
  stratifiedSample,
  tokenF1,
} from 'skillopt/envs';
import { describe, expect, test } from 'vitest';
import { shuffle } from '../../src/core/contracts/index.ts';
import { drawSplits } from '../../src/envs/split.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** Answers that collide often: few words, articles, punctuation, and now and then anything at all. */
const word = fc.constantFrom('the', 'a', 'An', 'new', 'York', 'york', 'N.Y.', 'año', '-', '“the”', '7');
const answer = fc.oneof(
  { weight: 4, arbitrary: fc.array(word, { maxLength: 5 }).map((words) => words.join(' ')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
);
const tokensOf = (text: string) => normalizeAnswer(text).split(' ').sort().join(' ');

describe('answers', () => {
  test('a normal form is its own normal form', () => {
    fc.assert(
      fc.property(answer, (text) => {
        const normal = normalizeAnswer(text);
        expect(normalizeAnswer(normal)).toBe(normal);
      }),
    );
  });

  test('overlap is between 0 and 1, and 1 only for the same words as often', () => {
    fc.assert(
      fc.property(answer, answer, (predicted, gold) => {
        const f1 = tokenF1(predicted, gold);
        expect(f1).toBeGreaterThanOrEqual(0);
        expect(f1).toBeLessThanOrEqual(1);
        expect(f1 === 1).toBe(tokensOf(predicted) === tokensOf(gold));
      }),
    );
  });

  test('overlap does not depend on the order of words, nor on which text is gold', () => {
    fc.assert(
      fc.property(answer, answer, fc.nat(), (predicted, gold, seed) => {
        const mixed = shuffle(normalizeAnswer(predicted).split(' '), seed).join(' ');
        expect(tokenF1(mixed, gold)).toBe(tokenF1(predicted, gold));
        expect(tokenF1(gold, predicted)).toBe(tokenF1(predicted, gold));
      }),
    );
  });

  test('a right answer has full partial credit, and a further gold answer never costs any', () => {
    fc.assert(
      fc.property(answer, fc.array(answer, { minLength: 1 }), answer, (predicted, golds, further) => {
        const score = scoreAnswer(predicted, golds);
        const more = scoreAnswer(predicted, [...golds, further]);
        if (score.hard === 1) expect(score.soft).toBe(1);
        expect(more.hard).toBeGreaterThanOrEqual(score.hard);
        expect(more.soft).toBeGreaterThanOrEqual(score.soft);
      }),
    );
  });

  test('what is put into tags comes out, whatever stands before it', () => {
    const untagged = fc.string().filter((text) => !/<\/?answer>/i.test(text));
    fc.assert(
      fc.property(fc.string(), untagged, (before, inside) => {
        expect(extractAnswer(`${before}<answer>${inside}</answer>`)).toBe(extractAnswer(`<answer>${inside}</answer>`));
      }),
    );
  });
});

describe('splits', () => {
  const weight = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constantFrom(0.1, 0.25, 0.7));
  const ratio = fc.tuple(weight, weight, weight);
  const size = fc.nat({ max: 200 });
  const draw = (count: number, weights: readonly number[], seed: number) => {
    const rows = Array.from({ length: count }, (_, index) => ({ value: { id: `${index}` }, where: `tasks:${index}` }));
    const { train, val, test: held } = splitItems(rows, { ratio: weights.join(':'), seed });
    return [train, val, held].map((items) => items.map((item) => Number(item.id)));
  };

  test('hold every task exactly once, in the order of the file', () => {
    fc.assert(
      fc.property(size, ratio, fc.integer(), (count, weights, seed) => {
        const splits = draw(count, weights, seed);
        const inOrder = (ids: readonly number[]) => ids.toSorted((a, b) => a - b);
        expect(inOrder(splits.flat())).toEqual([...Array(count).keys()]);
        for (const ids of splits) expect(ids).toEqual(inOrder(ids));
        expect(draw(count, weights, seed)).toEqual(splits);
      }),
    );
  });

  /** Rows that belong to a group, to a second one, to both or to none, in any order. */
  const membership = fc.array(fc.tuple(fc.option(fc.nat({ max: 12 })), fc.option(fc.nat({ max: 30 }))), {
    maxLength: 80,
  });
  const rowsOf = (members: readonly (readonly (number | null)[])[]) =>
    members.map((keys, index) => {
      const group = keys.flatMap((key, at) => (key === null ? [] : `${'de'[at]} ${key}`));
      const row = { value: { id: `${index}`, group }, where: `tasks:${index}` };
      return group.length === 0 ? row : { ...row, group };
    });

  test('never divide a group, hold every row once, and are the same for the same seed', () => {
    fc.assert(
      fc.property(membership, ratio, fc.integer(), (members, weights, seed) => {
        const rows = rowsOf(members);
        const draw = () => splitItems(rows, { ratio: weights.join(':'), seed });
        const splits = draw();
        const inSplit = Object.values(splits).flatMap((items) => items.map(({ id }) => id));
        expect(inSplit.toSorted()).toEqual(rows.map(({ value }) => value.id).toSorted());
        const splitsOf = new Map<string, Set<string>>();
        for (const [name, items] of Object.entries(splits))
          for (const key of items.flatMap(({ group }) => group))
            splitsOf.set(key, (splitsOf.get(key) ?? new Set()).add(name));
        for (const [key, names] of splitsOf) expect([key, names.size]).toEqual([key, 1]);
        expect(draw()).toEqual(splits);
      }),
    );
  });

  test('of groups are no further from their share than the largest group is large', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 12 }), { maxLength: 80 }), ratio, fc.integer(), (keys, weights, seed) => {
        const sum = weights.reduce((a, b) => a + b);
        const splits = splitItems(rowsOf(keys.map((key) => [key])), { ratio: weights.join(':'), seed });
        const largest = Math.max(0, ...keys.map((key) => keys.filter((other) => other === key).length));
        [splits.train, splits.val, splits.test].forEach((items, index) => {
          expect(items.length - (keys.length * weights[index]!) / sum).toBeLessThan(largest + 1);
        });
      }),
    );
  });

  test('without groups are what they always were', () => {
    fc.assert(
      fc.property(size, ratio, fc.integer(), (count, weights, seed) => {
        const drawn = drawSplits(count, { ratio: weights.join(':'), seed });
        const inOrder = (places: readonly number[]) => places.toSorted((a, b) => a - b);
        expect(draw(count, weights, seed)).toEqual([drawn.train, drawn.val, drawn.test].map(inOrder));
      }),
    );
  });

  test('are never further than one task from their share', () => {
    fc.assert(
      fc.property(size, ratio, (count, weights) => {
        const sum = weights.reduce((a, b) => a + b);
        draw(count, weights, 0).forEach((ids, index) => {
          expect(Math.abs(ids.length - (count * weights[index]!) / sum)).toBeLessThan(1 + 1e-9);
        });
      }),
    );
  });
});

describe('a loader by ratio', () => {
  const SPLITS = ['train', 'val', 'test'];
  const load = async (options: object) => {
    const loader = new SplitDataLoader(options);
    await loader.setup({ extras: {} });
    return SPLITS.map((split) => loader.getItems(split));
  };

  test('puts every item into exactly one split, the same each time, and reads back what it wrote', async () => {
    const ids = fc.uniqueArray(fc.oneof(fc.string({ minLength: 1 }), fc.nat({ max: 99 }).map(String)), {
      minLength: 1,
      maxLength: 30,
    });
    const filled = ids.filter((list) => list.every((id) => id.trim() !== ''));
    await fc.assert(
      fc.asyncProperty(filled, fc.integer(), async (list, splitSeed) => {
        using folder = tempFolder({ 'all.json': JSON.stringify(list.map((id) => ({ id }))) });
        const splitOutputDir = join(folder.path, 'out');
        const options = { dataPath: join(folder.path, 'all.json'), splitSeed, splitOutputDir };
        const splits = await load(options);
        expect(
          splits
            .flat()
            .map((item) => item.id)
            .toSorted(),
        ).toEqual(list.toSorted());
        expect(await load(options)).toEqual(splits);
        if (splits.every((items) => items.length > 0)) expect(await load({ splitDir: splitOutputDir })).toEqual(splits);
      }),
      { numRuns: 30 },
    );
  });
});

describe('an epoch', () => {
  const plan = fc.record({
    epoch: fc.integer({ min: 1, max: 9 }),
    batchSize: fc.integer({ min: 1, max: 9 }),
    batches: fc.integer({ min: 1, max: 9 }),
    seed: fc.integer({ min: -1e6, max: 1e6 }),
  });

  test('has no empty batch, and meets every item once before any a second time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), plan, (count, request) => {
        const batches = planItems([...Array(count).keys()], request);
        expect(batches).toHaveLength(request.batches);
        for (const { items } of batches) {
          expect(items.length).toBeGreaterThan(0);
          expect(new Set(items).size).toBe(items.length);
        }
        const firstPass = batches.slice(0, Math.ceil(count / request.batchSize)).flatMap(({ items }) => items);
        expect(new Set(firstPass).size).toBe(Math.min(count, request.batches * request.batchSize));
      }),
    );
  });

  test('of seeds holds each base seed once', () => {
    fc.assert(
      fc.property(plan, (request) => {
        const seeds = planSeeds(request).map((seed) => seed - request.seed);
        expect(seeds.toSorted((a, b) => a - b)).toEqual([...Array(request.batches).keys()].map((index) => index + 1));
      }),
    );
  });
});

describe('a stratified sample', () => {
  const items = fc
    .array(fc.constantFrom('a', 'b', 'c', undefined), { maxLength: 60 })
    .map((types) => types.map((taskType, id) => ({ id: String(id), ...(taskType && { taskType }) })));
  const typeOf = (item: { taskType?: string }) => item.taskType ?? '';

  test('has the size that was asked for, in the order of the items, the same for the same seed', () => {
    fc.assert(
      fc.property(items, fc.nat({ max: 70 }), fc.integer(), (all, count, seed) => {
        const sample = stratifiedSample(all, count, seed);
        expect(sample).toHaveLength(Math.min(count, all.length));
        expect(all.filter((item) => sample.includes(item))).toEqual(sample);
        expect(stratifiedSample(all, count, seed)).toEqual(sample);
      }),
    );
  });

  test('gives no type more or less than its share, rounded', () => {
    fc.assert(
      fc.property(items, fc.nat({ max: 60 }), fc.integer(), (all, count, seed) => {
        const sample = stratifiedSample(all, count, seed);
        for (const type of new Set(all.map(typeOf))) {
          const share = (sample.length * all.filter((item) => typeOf(item) === type).length) / all.length;
          const taken = sample.filter((item) => typeOf(item) === type).length;
          expect(Math.abs(taken - share)).toBeLessThan(1);
        }
      }),
    );
  });
});
