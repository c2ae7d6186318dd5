import { describe, expect, it } from 'vitest';
import { SimpleQAEnv } from '../../../src/public/envs.ts';
import { createWorld, type World, type WorldItem } from '../../../src/public/sim.ts';
import { readQuestion, readRules } from '../../../src/sim/world/world.ts';
import { expectEvery } from '../../support/expect-every.ts';

const allItems = ({ items }: World) => [...items.train, ...items.val, ...items.test];
const usualAnswer = ({ question }: WorldItem) => readQuestion(question)!.answer();
const shareRightWithoutRules = (items: readonly WorldItem[]) =>
  items.filter((item) => item.answers.includes(usualAnswer(item))).length / items.length;

describe('the simulated world', () => {
  it('is a function of its options', () => {
    expect(createWorld({ seed: 3, train: 9 })).toEqual(createWorld({ seed: 3, train: 9 }));
    expect(createWorld({ seed: 3 }).rules).not.toEqual(createWorld({ seed: 4 }).rules);
    expect(createWorld({ seed: 3 }).items.val[0]!.question).not.toBe(createWorld({ seed: 4 }).items.val[0]!.question);
  });

  it('has the sizes asked for, ids and questions that occur once, and every topic in every split', () => {
    const world = createWorld();
    const items = allItems(world);
    expect([world.items.train.length, world.items.val.length, world.items.test.length]).toEqual([48, 40, 60]);
    expect(new Set(items.map(({ id }) => id)).size).toBe(148);
    expect(new Set(items.map(({ question }) => question)).size).toBe(148);
    for (const split of Object.values(world.items))
      expect(new Set(split.map(({ taskType }) => taskType)).size).toBe(12);
    expectEvery(items, ({ id, split }) => id.startsWith(split));
  });

  it('keeps its other tasks when one split grows', () => {
    const [small, large] = [createWorld({ train: 12 }), createWorld({ train: 96 })];
    expect(large.items.train.slice(0, 12)).toEqual(small.items.train);
    expect(large.items.test).toEqual(small.items.test);
  });

  it.each([1, 2, 3, 7, 42])('seed %i: a quarter to two fifths is right without any rule', (seed) => {
    const { items } = createWorld({ seed });
    for (const split of Object.values(items)) {
      expect(shareRightWithoutRules(split)).toBeGreaterThanOrEqual(0.25);
      expect(shareRightWithoutRules(split)).toBeLessThanOrEqual(0.4);
    }
  });

  it('has a rule for each topic that needs one, and states none of them in the skill it starts from', () => {
    const { rules, initialSkill, items } = createWorld();
    expect(rules).toHaveLength(8);
    expect(readRules(initialSkill).size).toBe(0);
    expect(initialSkill).toMatch(/^---\nname: house-style\ndescription: .+\n---\n\n# /);
    const ruled = new Set(rules.map(({ topic }) => topic));
    for (const item of items.test) expect(item.answers.includes(usualAnswer(item))).toBe(!ruled.has(item.taskType));
  });

  it('takes fewer topics, down to one, which then needs its rule', () => {
    expect(new Set(allItems(createWorld({ topics: 5 })).map(({ taskType }) => taskType)).size).toBe(5);
    expect(createWorld({ topics: 1 }).rules).toHaveLength(1);
  });

  it('finds different questions for thousands of tasks, even of the topic with the fewest', () => {
    const worldOf = (seed: number) => createWorld({ seed, topics: 1, train: 5000, val: 0, test: 0 }).items.train;
    const seeds = Array.from({ length: 100 }, (_, seed) => seed);
    const seed = seeds.find((one) => createWorld({ seed: one, topics: 1, train: 1 }).rules[0]!.topic === 'consent')!;
    expect(new Set(worldOf(seed).map(({ question }) => question)).size).toBe(5000);
  });

  it.each([{ topics: 13 }, { topics: 0 }, { train: -1 }, { val: 1.5 }, { extra: 1 } as object])(
    'refuses %o',
    (options) => {
      expect(() => createWorld(options)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    },
  );

  it('makes items that SimpleQAEnv takes', () => {
    const { items, initialSkill } = createWorld();
    const env = new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: items.test, initialSkill });
    expect(env.getItems('val')).toHaveLength(40);
    expect(env.getTaskTypes()).toHaveLength(12);
  });
});
