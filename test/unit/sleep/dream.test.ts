import { describe, expect, it } from 'vitest';
import { scripted } from '../../../src/models/index.ts';
import { originalId, repeated } from '../../../src/sleep/dream/contrast.ts';
import { dreamTasks, multiRollout, RolloutSet } from '../../../src/sleep/index.ts';
import { expectEvery } from '../../support/expect-every.ts';
import { sleepTask } from '../../support/sleep/sleep-tasks.ts';

const attempt = (hard: number, soft: number, response = `${hard} ${soft}`) => ({
  hard,
  soft,
  response,
  failReason: '',
});
const set = (...attempts: ReturnType<typeof attempt>[]) => new RolloutSet(sleepTask('a'), attempts);

describe('RolloutSet', () => {
  it('compares by success where some succeeded and some did not', () => {
    const mixed = set(attempt(0, 0.9, 'near'), attempt(1, 0.8, 'good'), attempt(0, 0.1, 'far'));
    expect(mixed.best!.response).toBe('good');
    expect(mixed.worst!.response).toBe('near');
    expect(mixed.spread).toBe(1);
    expect(mixed.passRate).toBeCloseTo(1 / 3, 12);
  });

  it('compares by partial credit, halved, where all failed or all succeeded', () => {
    const failed = set(attempt(0, 0.2, 'low'), attempt(0, 0.6, 'high'));
    expect([failed.best!.response, failed.worst!.response]).toEqual(['high', 'low']);
    expect(failed.spread).toBeCloseTo(0.2, 12);
    expect(failed.passRate).toBe(0);
    expect(set(attempt(1, 1), attempt(1, 0.8)).spread).toBeCloseTo(0.1, 12);
  });

  it('gives the first of equals', () => {
    const equals = set(attempt(1, 1, 'a'), attempt(0, 0, 'b'), attempt(1, 1, 'c'), attempt(0, 0, 'd'));
    expect([equals.best!.response, equals.worst!.response]).toEqual(['a', 'b']);
  });

  it('has nothing to compare without attempts', () => {
    expect(set()).toMatchObject({ best: undefined, worst: undefined, spread: 0, passRate: 0 });
  });
});

const exact = sleepTask('exact', { referenceKind: 'exact', reference: 'yes' });

describe('multiRollout', () => {
  it('makes three independent attempts unless told otherwise', async () => {
    const target = scripted('target', ({ sampleIndex }) => (sampleIndex === 1000 ? 'yes' : 'no'));
    const rollouts = await multiRollout({ target }, exact, { skill: '', memory: '' });
    expect(target.requests.map(({ sampleIndex }) => sampleIndex)).toEqual([0, 1000, 2000]);
    expect(rollouts.attempts.map(({ hard }) => hard)).toEqual([0, 1, 0]);
    expect(rollouts.passRate).toBeCloseTo(1 / 3, 12);
  });

  it('makes at least one', async () => {
    const target = scripted('target', () => 'yes');
    expect((await multiRollout({ target }, exact, { skill: '', memory: '' }, { k: 0 })).attempts).toHaveLength(1);
  });

  it('2: leaves out attempts without a score', async () => {
    const target = scripted('target', ({ sampleIndex }) => (sampleIndex === 0 ? '' : 'yes'));
    const { attempts, spread } = await multiRollout({ target }, exact, { skill: '', memory: '' });
    expect([attempts.length, spread]).toEqual([2, 0]);
  });
});

describe('repeated', () => {
  it('gives each further attempt an id from which the task is found', () => {
    const tasks = repeated([exact, sleepTask('b')], 3);
    expect(tasks.map(({ id }) => id)).toEqual(['exact', 'exact~2', 'exact~3', 'b', 'b~2', 'b~3']);
    expect(new Set(tasks.map(({ id }) => originalId(id)))).toEqual(new Set(['exact', 'b']));
  });
});

describe('dreamTasks', () => {
  it('fact 44: makes so many variants of each task that is learned from; the first wrapper is reused', () => {
    const dreams = dreamTasks([exact], 4);
    expect(dreams.map(({ id }) => id)).toEqual([0, 1, 2, 3].map((at) => `exact_dream${at}`));
    const wrapped = dreams.map(({ intent }) => intent);
    expectEvery(wrapped, (intent) => intent.includes(exact.intent));
    expect(new Set(wrapped).size).toBe(3);
    expect(wrapped[3]).toBe(wrapped[0]);
    for (const dream of dreams) {
      expect(dream).toMatchObject({ split: 'train', origin: 'dream', derivedFrom: 'exact', reference: 'yes' });
    }
  });

  it('fact 44: dreams of no held-out task and of no dream', () => {
    const tasks = [sleepTask('v', { split: 'val' }), sleepTask('t', { split: 'test' }), ...dreamTasks([exact], 1)];
    expect(dreamTasks(tasks, 2)).toEqual([]);
    expect(dreamTasks([exact], 0)).toEqual([]);
    expect(dreamTasks([exact], -1)).toEqual([]);
  });
});

it('without contrast, attempts are compared by the metric of the gate', () => {
  const attempts = [
    { hard: 0, soft: 0.2, response: 'a', failReason: '' },
    { hard: 0, soft: 0.8, response: 'b', failReason: '' },
  ];
  expect(new RolloutSet(sleepTask('a'), attempts, { gateMetric: 'soft' }).spread).toBeCloseTo(0.6);
  expect(new RolloutSet(sleepTask('a'), attempts, { gateMetric: 'hard' })).toMatchObject({
    spread: 0,
    best: attempts[0],
  });
});
