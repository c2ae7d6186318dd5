import { describe, expect, it } from 'vitest';
import { assignSplits, resolveFractions, type TaskRecord } from '../../../src/sleep/index.ts';
import { sleepTask } from '../../support/sleep/sleep-tasks.ts';

const tasks = (count: number) => Array.from({ length: count }, (_, at) => sleepTask(`t${at}`));
const idsIn = (split: string, assigned: readonly TaskRecord[]) =>
  assigned.filter((task) => task.split === split).map(({ id }) => id);

describe('splits by hash', () => {
  it('fact 36: of eight tasks at seed 42 only t0 and t3 are val', () => {
    const assigned = assignSplits(tasks(8));
    expect(idsIn('val', assigned)).toEqual(['t0', 't3']);
    expect(idsIn('train', assigned)).toHaveLength(6);
  });

  it('fact 36: a tenth for the test takes t1 and t2', () => {
    const assigned = assignSplits(tasks(8), { valFraction: 0.34, testFraction: 0.1 });
    expect(idsIn('test', assigned)).toEqual(['t1', 't2']);
    expect(idsIn('val', assigned)).toEqual(['t0', 't3']);
  });

  it('fact 36: without val or train the smallest hash is moved', () => {
    expect(idsIn('val', assignSplits(tasks(8), { valFraction: 0.01, testFraction: 0.5 }))).toEqual(['t4']);
    expect(idsIn('val', assignSplits(tasks(3), { valFraction: 0, testFraction: 0 }))).toEqual(['t1']);
    expect(idsIn('train', assignSplits(tasks(4), { valFraction: 0.995 }))).toEqual(['t1']);
  });

  it('fact 36: halves of a hundredth are rounded to the even neighbour', () => {
    // t0 is in bucket 8: 0.085 · 100 rounds down to 8, which leaves it out.
    expect(idsIn('val', assignSplits(tasks(1), { valFraction: 0.085 }))).toEqual([]);
    expect(idsIn('val', assignSplits(tasks(1), { valFraction: 0.095 }))).toEqual(['t0']);
  });

  it('fact 37: one task keeps its bucket, and nothing is moved', () => {
    expect(assignSplits(tasks(1)).map(({ split }) => split)).toEqual(['val']);
  });

  it('fact 38: parts that leave nothing to learn from are an error that names them', () => {
    expect(() => assignSplits(tasks(2), { valFraction: 0.5, testFraction: 0.5 })).toThrow(/below 1, got 0.5 and 0.5/);
    expect(() => assignSplits(tasks(2), { valFraction: -0.1 })).toThrow(/from 0 to 1/);
    expect(() => assignSplits(tasks(2), { valFraction: Number.NaN })).toThrow(/got NaN/);
  });

  it('dreams are always learned from', () => {
    const dreams = tasks(8).map((task) => ({ ...task, origin: 'dream' as const, split: 'val' as const }));
    expect(idsIn('train', assignSplits(dreams, { valFraction: 0.99 }))).toHaveLength(8);
  });

  it('9: tasks held out for the test are named as such, and never moved', () => {
    const assigned = assignSplits(tasks(3), { valFraction: 0, testFraction: 0.99 });
    expect(assigned.map(({ split }) => split)).toEqual(['test', 'test', 'test']);
  });
});

describe('fractions', () => {
  it('have one resolver: what was said explicitly, else the older name, else a third', () => {
    expect(resolveFractions()).toEqual({ valFraction: 0.34, testFraction: 0 });
    expect(resolveFractions({ holdoutFraction: 0.2 })).toEqual({ valFraction: 0.2, testFraction: 0 });
    expect(resolveFractions({ holdoutFraction: 0.2, valFraction: 0.5, testFraction: 0.1 })).toEqual({
      valFraction: 0.5,
      testFraction: 0.1,
    });
  });
});

describe('near-duplicates', () => {
  const words = 'rename every export of the billing module to camel case and run the tests';

  it('11: stay together, on the side of the smallest hash', () => {
    const twins = [sleepTask('t0', { intent: words }), sleepTask('t1', { intent: `Please ${words}!` })];
    const assigned = assignSplits([...twins, sleepTask('t2'), sleepTask('t4')]);
    expect(assigned.find(({ id }) => id === 't0')?.split).toBe(assigned.find(({ id }) => id === 't1')?.split);
    expect(idsIn('val', assigned)).not.toEqual([]);
  });

  it('11: when everything is one task in other words, nothing is held out', () => {
    const twins = ['t0', 't1', 't2'].map((id) => sleepTask(id, { intent: `${words} ${id}` }));
    expect(idsIn('train', assignSplits(twins))).toEqual(['t0', 't1', 't2']);
  });

  it('11: a real task beside its own dream is learned from too', () => {
    const dream = sleepTask('t9', { intent: words, origin: 'dream' });
    const assigned = assignSplits([sleepTask('t0', { intent: words }), dream, sleepTask('t3'), sleepTask('t5')]);
    expect(assigned.find(({ id }) => id === 't0')?.split).toBe('train');
  });
});

describe('splits of earlier nights', () => {
  const other = 'write a migration that adds an index on the orders table by customer';

  it('are kept by a task that comes again', () => {
    const earlier = [sleepTask('t0', { split: 'train' }), sleepTask('t1', { split: 'val' })];
    const assigned = assignSplits(tasks(8), { earlier });
    expect(assigned.find(({ id }) => id === 't0')?.split).toBe('train');
    expect(assigned.find(({ id }) => id === 't1')?.split).toBe('val');
  });

  it('are kept by a task that was moved because of the company it was in', () => {
    const first = assignSplits(tasks(3), { valFraction: 0 });
    const second = assignSplits(tasks(8), { valFraction: 0, earlier: first });
    expect(idsIn('val', first)).toEqual(['t1']);
    expect(idsIn('val', second)).toEqual(['t1']);
  });

  it('are given to what is nearly the same', () => {
    const earlier = [sleepTask('old', { intent: other, split: 'train' })];
    const assigned = assignSplits([sleepTask('t0', { intent: `${other} id` }), sleepTask('t3')], { earlier });
    expect(assigned.find(({ id }) => id === 't0')?.split).toBe('train');
  });

  it('leave out a task that is near to both sides', () => {
    const [a, b] = ['one two three four five six seven', 'one two three four five six eight'];
    const earlier = [sleepTask('a', { intent: a, split: 'train' }), sleepTask('b', { intent: b, split: 'val' })];
    const between = sleepTask('c', { intent: 'one two three four five six' });
    expect(assignSplits([between, sleepTask('t0')], { earlier }).map(({ id }) => id)).toEqual(['t0']);
  });
});
