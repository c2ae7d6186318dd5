import { describe, expect, it } from 'vitest';
import { archiveTasks, poolValidation, recallTasks } from '../../../src/sleep/index.ts';
import { sleepTask } from '../../support/sleep/sleep-tasks.ts';

const ids = (tasks: readonly { id: string }[]) => tasks.map(({ id }) => id);

describe('the archive', () => {
  it('takes real tasks, and keeps the newest 300', () => {
    const archive = Array.from({ length: 299 }, (_, at) => sleepTask(`old${at}`));
    const dream = sleepTask('d', { origin: 'dream' });
    const recalled = sleepTask('recall:old1', { derivedFrom: 'old1' });
    const after = archiveTasks(archive, [sleepTask('new1'), dream, recalled, sleepTask('new2')]);
    expect(after).toHaveLength(300);
    expect(ids(after).slice(-2)).toEqual(['new1', 'new2']);
    expect(after[0]!.id).toBe('old1');
  });

  it('has a task once, as the newest, with the split that it once had', () => {
    const archive = [sleepTask('a', { split: 'train', sourceSessions: ['1'] }), sleepTask('b')];
    const after = archiveTasks(archive, [sleepTask('a', { split: 'val', sourceSessions: ['2'], outcome: 'success' })]);
    expect(ids(after)).toEqual(['b', 'a']);
    expect(after[1]).toMatchObject({ split: 'train', sourceSessions: ['1', '2'], outcome: 'success' });
  });

  it('has a task that was learned from as such, also when it was held out before', () => {
    expect(archiveTasks([sleepTask('a', { split: 'val' })], [sleepTask('a')])).toMatchObject([{ split: 'train' }]);
  });
});

describe('validation tasks pooled over nights', () => {
  const intent = 'rename all exports of the billing module';

  it('are those of earlier nights', () => {
    const archive = [sleepTask('v1', { split: 'val' }), sleepTask('t1'), sleepTask('x1', { split: 'test' })];
    expect(ids(poolValidation(archive, [sleepTask('t2')]))).toEqual(['v1']);
  });

  it('11: none comes again tonight, or is nearly what is learned from tonight', () => {
    const archive = [sleepTask('v1', { split: 'val' }), sleepTask('v2', { split: 'val', intent })];
    expect(
      poolValidation(archive, [sleepTask('v1', { split: 'val' }), sleepTask('t', { intent: `${intent}!` })]),
    ).toEqual([]);
  });

  it('none is nearly what is held out tonight, another of them, or what was learned from: each counts once', () => {
    const v2 = sleepTask('v2', { split: 'val', intent });
    const archive = [sleepTask('v1', { split: 'val' }), v2, sleepTask('v3', { split: 'val', intent: `${intent}!` })];
    expect(ids(poolValidation(archive, []))).toEqual(['v1', 'v3']);
    expect(ids(poolValidation(archive, [sleepTask('t', { intent, split: 'val' })]))).toEqual(['v1']);
    expect(ids(poolValidation([...archive, sleepTask('l', { intent })], []))).toEqual(['v1']);
  });
});

describe('recall', () => {
  const tonight = [
    sleepTask('n1', { intent: 'fix the login form validation' }),
    sleepTask('n2', { intent: 'write release notes', split: 'val' }),
  ];
  const archive = [
    sleepTask('h1', { intent: 'fix the login form' }),
    sleepTask('h2', { intent: 'fix the login form validation now', split: 'val' }),
    sleepTask('h3', { intent: 'fix the signup page' }),
    sleepTask('n1', { intent: 'fix the login form validation' }),
    sleepTask('h4', { intent: 'bake bread' }),
    sleepTask('h5', { intent: 'write release notes, fix' }),
  ];

  it('fact 44: brings back the most similar, without what was held out or comes again', () => {
    const recalled = recallTasks(archive, tonight, 2);
    expect(ids(recalled)).toEqual(['recall:h1', 'recall:h3']);
    expect(recalled[0]).toMatchObject({ split: 'train', derivedFrom: 'h1', intent: 'fix the login form' });
  });

  it('fact 44: what has nothing in common is not brought back; ours: nor what is held out tonight', () => {
    expect(ids(recallTasks(archive, tonight, 9))).toEqual(['recall:h1', 'recall:h3']);
    expect(recallTasks(archive, tonight, 0)).toEqual([]);
  });
});
