import type { RunFigures } from './figures.ts';

/** A run on a page: what the server answers, and what a report holds. */
export type RunPage = {
  readonly name: string;
  /** Lines of the journal: a stream continues after them. */
  readonly lines: number;
  readonly isRunning: boolean;
  readonly words: RunWords;
  readonly figures: RunFigures;
};

/** The verdict in sentences, as the terminal says it, and what to do next. */
export type RunWords = {
  readonly head: string;
  readonly sentence: string;
  readonly amounts: string;
  readonly chosenBy: string | null;
  readonly next: { readonly command: string; readonly why: string };
};

const LISTS = ['curve', 'versions', 'edits'] as const;
type List = (typeof LISTS)[number];
type Tail = { readonly from: number; readonly rows: readonly unknown[] };

/** What is new on a page: lists grow at their end, and the rest is sent again. */
export type PageChange = Omit<RunPage, 'figures'> & {
  readonly figures: Omit<RunFigures, List>;
  readonly tails: Readonly<Record<List, Tail>>;
};

export function changeOfPage(before: RunPage, after: RunPage): PageChange {
  const { curve, versions, edits, ...figures } = after.figures;
  const lists = { curve, versions, edits };
  const tails = LISTS.map((name) => [name, tailOf(before.figures[name], lists[name])] as const);
  return { ...after, figures, tails: Object.fromEntries(tails) as Record<List, Tail> };
}

export function changePage(page: RunPage, { tails, figures, ...rest }: PageChange): RunPage {
  const lists = LISTS.map((name) => [name, [...page.figures[name].slice(0, tails[name].from), ...tails[name].rows]]);
  return { ...rest, figures: { ...figures, ...Object.fromEntries(lists) } as RunFigures };
}

function tailOf(before: readonly object[], after: readonly object[]): Tail {
  const changed = after.findIndex((row, index) => before[index] === undefined || !isSameRow(before[index], row));
  const from = changed === -1 ? after.length : changed;
  return { from, rows: after.slice(from) };
}

/** Rows are made from the same records again and again: what did not change is the same object, or has the same fields. */
function isSameRow(one: object, other: object): boolean {
  if (one === other) return true;
  const [a, b] = [Object.entries(one), other as Readonly<Record<string, unknown>>];
  return a.length === Object.keys(b).length && a.every(([name, value]) => value === b[name]);
}
