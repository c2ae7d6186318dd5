import { type GridCell, type GridColumn, unpackCell, type VersionRow } from '../../core/page/index.ts';
import { PASS_MARK } from '../../core/stats/index.ts';
import { themeColor } from './colors.ts';
import { COLUMN, HEAD, type Place, ROW, type Window } from './grid-geometry.ts';

export type GridPicture = {
  /** Indexes of the tasks, in the order of the rows. */
  readonly tasks: readonly number[];
  readonly versions: readonly VersionRow[];
  readonly columns: ReadonlyMap<number, GridColumn>;
  readonly rows: Window;
  readonly seen: Window;
  readonly at: Place | null;
};

const NAMES = ['paper', 'line', 'soft', 'ink', 'good', 'bad', 'doubt', 'accent', 'wash'] as const;
export type GridColors = Readonly<Record<(typeof NAMES)[number], string>> & { readonly font: string };

export function gridColors(element: HTMLElement): GridColors {
  const colors = Object.fromEntries(NAMES.map((name) => [name, themeColor(element, name)]));
  return { ...colors, font: `10px ${getComputedStyle(element).fontFamily}` } as GridColors;
}

/** Draws the window and nothing else: a run may have ten million cells. */
export function drawGrid(context: CanvasRenderingContext2D, picture: GridPicture, colors: GridColors): void {
  const { rows, seen, at } = picture;
  const ratio = devicePixelRatio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  if (at && at.row >= rows.from && at.row < rows.to) {
    context.fillStyle = colors.wash;
    context.fillRect(0, HEAD + (at.row - rows.from) * ROW, (seen.to - seen.from) * COLUMN, ROW);
  }
  for (let index = seen.from; index < seen.to; index += 1) drawColumn(context, picture, index, colors);
  if (at && at.column >= seen.from && at.row >= rows.from) {
    context.strokeStyle = colors.accent;
    context.lineWidth = 2;
    context.strokeRect(
      (at.column - seen.from) * COLUMN + 1,
      HEAD + (at.row - rows.from) * ROW + 1,
      COLUMN - 2,
      ROW - 2,
    );
  }
}

function drawColumn(context: CanvasRenderingContext2D, picture: GridPicture, index: number, colors: GridColors): void {
  const { tasks, versions, columns, rows, seen } = picture;
  const version = versions[index]!;
  const x = (index - seen.from) * COLUMN;
  drawHead(context, version, x, colors);
  const column = columns.get(index);
  const parent = version.parent === null ? undefined : columns.get(version.parent);
  if (!column) return;
  for (let row = rows.from; row < rows.to; row += 1) {
    const task = tasks[row]!;
    const cell = unpackCell(column, task);
    const y = HEAD + (row - rows.from) * ROW;
    drawCell(context, cell, { x: x + 4, y: y + 6, colors });
    if (parent && isFlip(unpackCell(parent, task), cell)) drawFlip(context, { x: x + 4, y: y + 6, colors });
  }
}

function drawHead(context: CanvasRenderingContext2D, { fate, step }: VersionRow, x: number, colors: GridColors): void {
  const isTaken = fate === 'accepted' || fate === 'start';
  context.font = colors.font;
  context.textAlign = 'center';
  context.fillStyle = isTaken ? colors.ink : colors.soft;
  context.fillText(String(step), x + COLUMN / 2, 13);
  context.fillStyle = isTaken ? colors.good : fate === 'undecided' ? colors.doubt : colors.bad;
  if (isTaken) context.fillRect(x + 4, 18, 12, 3);
  else context.fillRect(x + 7, 19, 6, 1);
}

type Spot = { readonly x: number; readonly y: number; readonly colors: GridColors };
const BOX = 12;

/** Full: passed. Empty with a stroke: failed. Partly full: both outcomes. Hatched: not met. Hatched with a mark: no result. */
function drawCell(context: CanvasRenderingContext2D, cell: GridCell | undefined, { x, y, colors }: Spot): void {
  context.lineWidth = 1;
  if (cell === undefined || cell.score === null) {
    drawHatch(context, { x, y, colors });
    if (cell) {
      context.fillStyle = colors.ink;
      context.fillRect(x + 5.25, y + 2, 1.5, 5);
      context.fillRect(x + 5.25, y + 8.5, 1.5, 1.5);
    }
    return;
  }
  const { score, attempts, passed } = cell;
  const share = passed > 0 && passed < attempts ? passed / attempts : score >= PASS_MARK ? 1 : 0;
  const tone = share === 1 ? colors.good : share === 0 ? colors.bad : colors.doubt;
  context.strokeStyle = tone;
  context.strokeRect(x + 0.5, y + 0.5, BOX - 1, BOX - 1);
  context.fillStyle = tone;
  context.fillRect(x, y + BOX * (1 - share), BOX, BOX * share);
  if (share > 0) return;
  context.beginPath();
  context.moveTo(x + 3.5, y + 3.5);
  context.lineTo(x + 8.5, y + 8.5);
  context.stroke();
}

function drawHatch(context: CanvasRenderingContext2D, { x, y, colors }: Spot): void {
  context.strokeStyle = colors.line;
  context.beginPath();
  for (const at of [4, 8, 12]) {
    context.moveTo(x, y + at);
    context.lineTo(x + at, y);
  }
  for (const at of [4, 8]) {
    context.moveTo(x + at, y + BOX);
    context.lineTo(x + BOX, y + at);
  }
  context.stroke();
}

/** Passed before and fails now, or the reverse. With both outcomes under one version it may be luck, and is none. */
function isFlip(before: GridCell | undefined, after: GridCell | undefined): boolean {
  if (!before || !after || before.score === null || after.score === null) return false;
  const isSure = ({ passed, attempts }: GridCell) => passed === 0 || passed === attempts;
  return isSure(before) && isSure(after) && before.score >= PASS_MARK !== after.score >= PASS_MARK;
}

function drawFlip(context: CanvasRenderingContext2D, { x, y, colors }: Spot): void {
  context.strokeStyle = colors.ink;
  context.lineWidth = 1.5;
  context.strokeRect(x - 1.5, y - 1.5, BOX + 3, BOX + 3);
}
