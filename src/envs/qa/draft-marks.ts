import type { Row } from '../read/row.ts';

/** What a task file says of a task that a model drafted. */
export type DraftMarks = { readonly isReviewed: boolean; readonly isDoubtful: boolean };

/** The marks of a row, or nothing where a person wrote it. They are no part of the task: who reviewed it changes no score. */
export function draftMarksOf(row: unknown): DraftMarks | undefined {
  const { drafted, reviewed, doubtful } = (row ?? {}) as Readonly<Record<string, unknown>>;
  return isYes(drafted) ? { isReviewed: isYes(reviewed), isDoubtful: isYes(doubtful) } : undefined;
}

/** A CSV has words where JSON has values. */
const isYes = (value: unknown) => value === true || value === 'true';

/** How many tasks a model drafted, and how many of those nobody reviewed. */
export type DraftCount = { readonly drafted: number; readonly unreviewed: number };

export function countDrafts(marks: readonly DraftMarks[]): DraftCount {
  return { drafted: marks.length, unreviewed: marks.filter(({ isReviewed }) => !isReviewed).length };
}

/** The marks of rows, by their place: only those of drafted ones. */
export function marksOf(rows: readonly Row[]): Map<string, DraftMarks> {
  const marks = new Map<string, DraftMarks>();
  for (const { where, value } of rows) {
    const found = draftMarksOf(value);
    if (found) marks.set(where, found);
  }
  return marks;
}
