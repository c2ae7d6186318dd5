import type { TaskRow } from '../../core/page/index.ts';

export type TaskChoice = { readonly filter: string; readonly sort: string; readonly q: string; readonly split: string };

type Filter = { readonly word: string; readonly isShown: (task: TaskRow) => boolean };

export const TASK_FILTERS: Readonly<Record<string, Filter>> = {
  '': { word: 'all', isShown: () => true },
  worse: { word: 'worse', isShown: ({ change }) => change === 'worse' },
  better: { word: 'better', isShown: ({ change }) => change === 'better' },
  noisy: { word: 'noisy', isShown: ({ isNoisy }) => isNoisy },
  never: { word: 'never passed', isShown: ({ isNeverPassed }) => isNeverPassed },
  errored: { word: 'no result', isShown: ({ isErrored }) => isErrored },
};

type Sort = { readonly word: string; readonly compare: (a: TaskRow, b: TaskRow) => number };

export const TASK_SORTS: Readonly<Record<string, Sort>> = {
  '': { word: 'in their order', compare: (a, b) => a.index - b.index },
  spread: { word: 'by spread', compare: (a, b) => b.spread - a.spread || a.index - b.index },
  score: { word: 'lowest score first', compare: (a, b) => (a.score ?? 2) - (b.score ?? 2) || a.index - b.index },
  name: { word: 'by name', compare: (a, b) => a.id.localeCompare(b.id) },
};

/** The tasks that a reader asks for. An unknown filter or order, as from an old link, shows all in their order. */
export function filterTasks(rows: readonly TaskRow[], { filter, sort, q, split }: TaskChoice): TaskRow[] {
  const { isShown } = TASK_FILTERS[filter] ?? TASK_FILTERS['']!;
  const { compare } = TASK_SORTS[sort] ?? TASK_SORTS['']!;
  const text = q.toLowerCase();
  return rows
    .filter((row) => isShown(row) && (split === '' || row.split === split) && row.id.toLowerCase().includes(text))
    .sort(compare);
}
