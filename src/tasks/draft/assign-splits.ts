import { apportion } from '../../envs/split/split-ratio.ts';
import type { DraftRow, TaskRow } from '../task-row.ts';

const SPLITS = ['train', 'val', 'test'] as const;
const RATIO = [4, 3, 3];

/** Where the tasks of a file name their splits, each new one must too: where most are missing. Elsewhere the reader divides them. */
export function assignSplits(rows: readonly DraftRow[], existing: readonly TaskRow[]): DraftRow[] {
  if (!existing.some(({ split }) => typeof split === 'string')) return [...rows];
  const total = existing.length + rows.length;
  const wanted = apportion(total, RATIO);
  const left = SPLITS.map((name, place) => wanted[place]! - existing.filter(({ split }) => split === name).length);
  return rows.map((row) => {
    const place = left.indexOf(Math.max(...left));
    left[place]! -= 1;
    return { ...row, split: SPLITS[place]! };
  });
}
