import { expect, it } from 'vitest';
import type { TaskRow } from '../../../src/core/page/index.ts';
import { filterTasks } from '../../../src/web/screens/tasks.tsx';

const rows = (
  [
    { id: 'a-1', change: 'worse', spread: 0.1, score: 0.5 },
    { id: 'b-2', change: 'same', spread: 0.9, score: 0, isNeverPassed: true },
    { id: 'c-3', change: 'better', spread: 0.5, score: null, isErrored: true, split: 'test' },
    { id: 'd-4', change: 'worse', spread: 0.3, score: 1, isNoisy: true },
  ] as const
).map((row, index): TaskRow => {
  const plain = { split: 'val', attempts: 2, isNoisy: false, isErrored: false, isNeverPassed: false } as const;
  return { ...plain, index, ...row };
});
const all = { filter: '', sort: '', q: '', split: '' };
const ids = (choice: Partial<typeof all>) => filterTasks(rows, { ...all, ...choice }).map(({ id }) => id);

it('shows the tasks that are asked for', () => {
  expect(ids({})).toEqual(['a-1', 'b-2', 'c-3', 'd-4']);
  expect(ids({ filter: 'worse' })).toEqual(['a-1', 'd-4']);
  expect(ids({ filter: 'worse', q: 'D-' })).toEqual(['d-4']);
  expect(ids({ filter: 'never' })).toEqual(['b-2']);
  expect(ids({ filter: 'errored', split: 'test' })).toEqual(['c-3']);
  expect(ids({ filter: 'errored', split: 'val' })).toEqual([]);
});

it('sorts them; those without a score come last', () => {
  expect(ids({ sort: 'spread' })).toEqual(['b-2', 'c-3', 'd-4', 'a-1']);
  expect(ids({ sort: 'score' })).toEqual(['b-2', 'a-1', 'd-4', 'c-3']);
});

it('shows all tasks for a link with an unknown filter', () => {
  expect(ids({ filter: 'gone', sort: 'gone' })).toEqual(['a-1', 'b-2', 'c-3', 'd-4']);
});
