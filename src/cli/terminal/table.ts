import { clip, padEnd, padStart, textWidth } from './text-width.ts';

export type Column = {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Text that may be cut when the table is too wide. */
  readonly isElastic?: boolean;
  /** Left out when the table is still too wide, the last such column first: better no number than half of one. */
  readonly isOptional?: boolean;
  readonly paint?: (text: string, row: number) => string;
};

type Rows = readonly (readonly string[])[];
type TableOptions = {
  readonly width: number;
  readonly indent?: number;
  readonly paintTitle?: (text: string) => string;
};

const GAP = '  ';
const COMFORTABLE = 12;

/** Aligned lines, a title line first, none wider than `width`. */
export function table(columns: readonly Column[], rows: Rows, options: TableOptions): string[] {
  const { width, indent = 0, paintTitle = (text) => text } = options;
  const placed = placeColumns(columns, rows, width - indent);
  const line = (cells: readonly string[], paint: (column: Column, text: string) => string) => {
    const painted = placed.map(({ column, at, width }) => paint(column, fitCell(column, cells[at] ?? '', width)));
    return `${' '.repeat(indent)}${painted.join(GAP)}`.trimEnd();
  };
  const titles = columns.map((column) => column.title);
  const head = titles.some((title) => title !== '') ? [line(titles, (_, text) => paintTitle(text))] : [];
  return [...head, ...rows.map((row, index) => line(row, (column, text) => column.paint?.(text, index) ?? text))];
}

function fitCell(column: Column, text: string, width: number): string {
  const clipped = clip(text, width);
  return column.align === 'right' ? padStart(clipped, width) : padEnd(clipped, width);
}

type Placed = { readonly column: Column; readonly at: number; width: number };

/** What gives way, in order: elastic columns, optional ones, elastic ones again, then everything. */
function placeColumns(columns: readonly Column[], rows: Rows, width: number): Placed[] {
  const natural = (at: number) => Math.max(...[columns[at]!.title, ...rows.map((row) => row[at] ?? '')].map(textWidth));
  let placed = columns.map((column, at): Placed => ({ column, at, width: natural(at) }));
  const elastic = placed.filter(({ column }) => column.isElastic);
  shrink(placed, { candidates: elastic, width, smallest: COMFORTABLE });
  while (totalWidth(placed) > width) {
    const last = placed.findLast(({ column }) => column.isOptional);
    if (!last) break;
    placed = placed.filter((entry) => entry !== last);
  }
  shrink(placed, { candidates: elastic, width, smallest: 4 });
  shrink(placed, { candidates: placed, width, smallest: 1 });
  return placed;
}

const totalWidth = (placed: readonly Placed[]) =>
  placed.reduce((sum, { width }) => sum + width, GAP.length * (placed.length - 1));

type Shrinking = { readonly candidates: readonly Placed[]; readonly width: number; readonly smallest: number };

function shrink(placed: readonly Placed[], { candidates, width, smallest }: Shrinking): void {
  while (totalWidth(placed) > width) {
    const widest = candidates.toSorted((a, b) => b.width - a.width)[0];
    if (!widest || widest.width <= smallest) return;
    widest.width -= 1;
  }
}
