/** Places of the grid in pixels. It scrolls by whole cells, so that what is drawn is always sharp. */
export const ROW = 24;
export const COLUMN = 20;
export const HEAD = 26;

export type Window = { readonly from: number; readonly to: number };

/** The cells in sight, the last one perhaps in part. */
export function windowOf(scrolled: number, size: number, cell: number, count: number): Window {
  const from = Math.min(Math.max(0, Math.floor(scrolled / cell)), Math.max(0, count - 1));
  return { from, to: Math.min(count, from + Math.ceil(Math.max(0, size) / cell)) };
}

/** What is left of a window when there are fewer cells than before. */
export const within = ({ from, to }: Window, count: number): Window => ({
  from: Math.min(from, count),
  to: Math.min(to, count),
});

export type Place = { readonly row: number; readonly column: number };

/** The cell under a point of the canvas; nothing outside of the window. */
export function placeAt(x: number, y: number, rows: Window, columns: Window): Place | undefined {
  if (x < 0 || y < HEAD) return undefined;
  const [row, column] = [rows.from + Math.floor((y - HEAD) / ROW), columns.from + Math.floor(x / COLUMN)];
  return row < rows.to && column < columns.to ? { row, column } : undefined;
}

/** How far to scroll so that a cell is in sight. */
export function scrollFor(index: number, { from, to }: Window, cell: number): number {
  const whole = Math.max(1, to - from - 1);
  if (index < from) return index * cell;
  return index >= from + whole ? (index - whole + 1) * cell : from * cell;
}

/** Columns are fetched in blocks, so that a scroll asks rarely. */
export const BLOCK = 40;

export function blocksOf({ from, to }: Window): number[] {
  const first = Math.floor(from / BLOCK);
  return Array.from({ length: Math.floor(Math.max(from, to - 1) / BLOCK) - first + 1 }, (_, index) => first + index);
}
