import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { type GridCell, type GridColumn, unpackCell, type VersionRow } from '../../core/page/index.ts';
import { PASS_MARK } from '../../core/stats/index.ts';
import { onTheme, themeColor } from './colors.ts';
import { COLUMN, HEAD, type Place, placeAt, ROW, scrollFor, type Window, windowOf, within } from './grid-geometry.ts';

export type GridProps = {
  readonly tasks: readonly number[];
  readonly versions: readonly VersionRow[];
  readonly columns: ReadonlyMap<number, GridColumn>;
  readonly at: Place | null;
  readonly onSeen: (columns: Window) => void;
  readonly onMove: (place: Place) => void;
  readonly onOpen: (place: Place) => void;
  /** The name of a row, at the left of its cells. */
  readonly name: (row: number) => ReactNode;
};

const none: Window = { from: 0, to: 0 };
const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  PageDown: [20, 0],
  PageUp: [-20, 0],
};

/** Tasks by versions: names are elements, cells are drawn. Both only as far as they are in sight. */
export function Grid(props: GridProps) {
  const { tasks, versions, at, onMove, onOpen, name } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { rows, seen, look } = useWindows(props, box, canvas);
  useDrawing({ ...props, rows, seen }, box, canvas);
  const pointed = ({ nativeEvent }: PointerEvent) => placeAt(nativeEvent.offsetX, nativeEvent.offsetY, rows, seen);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && at) onOpen(at);
    const place = placeAfter(event.key, at, { rows, seen, tasks: tasks.length, versions: versions.length });
    if (!place) return;
    event.preventDefault();
    box.current!.scrollTo(scrollFor(place.column, seen, COLUMN), scrollFor(place.row, rows, ROW));
    onMove(place);
  };
  return (
    <div ref={box} className="grid" onScroll={look}>
      <div className="sizer" style={{ height: HEAD + tasks.length * ROW, width: versions.length * COLUMN }}>
        <div className="pane">
          <Names rows={rows} at={at} name={name} />
          <canvas
            ref={canvas}
            tabIndex={0}
            role="img"
            aria-label={`${tasks.length} tasks by ${versions.length} versions. Arrow keys move, Enter opens the attempts of a cell.`}
            onKeyDown={onKey}
            onPointerMove={(event) => {
              const place = pointed(event);
              if (place && (place.row !== at?.row || place.column !== at.column)) onMove(place);
            }}
            onPointerUp={(event) => {
              const place = pointed(event);
              if (place) onOpen(place);
            }}
          />
        </div>
      </div>
    </div>
  );
}

function Names({ rows, at, name }: Pick<GridProps, 'at' | 'name'> & { readonly rows: Window }) {
  // Elements keep their places and show other rows: moving or making them costs more than the drawing of all cells.
  const shown = Array.from({ length: rows.to - rows.from }, (_, index) => rows.from + index);
  return (
    <ul className="names">
      {shown.map((row) => (
        <li key={row - rows.from} className={at?.row === row ? 'is-at' : ''}>
          {name(row)}
        </li>
      ))}
    </ul>
  );
}

type Box = RefObject<HTMLDivElement | null>;
type Canvas = RefObject<HTMLCanvasElement | null>;

/** Which rows and columns are in sight, and a function that looks again. */
function useWindows({ tasks, versions, onSeen }: GridProps, box: Box, canvas: Canvas) {
  const [windows, setWindows] = useState({ rows: none, seen: none });
  const rows = useMemo(() => within(windows.rows, tasks.length), [windows.rows, tasks.length]);
  const seen = useMemo(() => within(windows.seen, versions.length), [windows.seen, versions.length]);
  const look = useCallback(() => {
    const [element, drawn] = [box.current, canvas.current];
    if (!element || !drawn) return; // a scroll may be reported after the end
    // Its own size in pixels: to ask for that on the screen would cost a layout in each frame.
    const [width, height] = [drawn.width / devicePixelRatio, drawn.height / devicePixelRatio];
    const [rows, seen] = [
      windowOf(element.scrollTop, height - HEAD, ROW, tasks.length),
      windowOf(element.scrollLeft, width, COLUMN, versions.length),
    ];
    setWindows((before) => (isSame(before.rows, rows) && isSame(before.seen, seen) ? before : { rows, seen }));
  }, [box, canvas, tasks.length, versions.length]);
  useEffect(() => onSeen(seen), [seen, onSeen]);
  useEffect(() => {
    const fit = () => {
      const drawn = canvas.current;
      if (!drawn) return; // a size may be reported after the end
      const { clientWidth, clientHeight } = drawn;
      Object.assign(drawn, { width: clientWidth * devicePixelRatio, height: clientHeight * devicePixelRatio });
      setWindows({ rows: none, seen: none }); // it is empty now
      look();
    };
    const resized = new ResizeObserver(fit); // calls at once
    resized.observe(box.current!);
    return () => resized.disconnect();
  }, [box, canvas, look]);
  return { rows, seen, look };
}

/** Draws what is in sight in the same frame as its names, and again in a new theme. */
function useDrawing(picture: GridPicture, box: Box, canvas: Canvas): void {
  const { tasks, versions, columns, rows, seen, at } = picture;
  const look = useRef<Look | null>(null);
  const draw = useCallback(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) return;
    look.current ??= lookOf(box.current!);
    drawGrid(context, { tasks, versions, columns, rows, seen, at }, look.current);
  }, [box, canvas, tasks, versions, columns, rows, seen, at]);
  useEffect(draw, [draw]);
  useEffect(
    () =>
      onTheme(() => {
        look.current = null;
        draw();
      }),
    [draw],
  );
}

type GridPicture = Pick<GridProps, 'tasks' | 'versions' | 'columns' | 'at'> & {
  readonly rows: Window;
  readonly seen: Window;
};

const NAMES = ['line', 'soft', 'ink', 'good', 'bad', 'doubt', 'accent', 'wash'] as const;
type Look = Readonly<Record<(typeof NAMES)[number], string>> & { readonly font: string };

function lookOf(element: HTMLElement): Look {
  const colors = Object.fromEntries(NAMES.map((name) => [name, themeColor(element, name)]));
  return { ...colors, font: `10px ${getComputedStyle(element).fontFamily}` } as Look;
}

/** Draws the window and nothing else: a run may have ten million cells. */
function drawGrid(context: CanvasRenderingContext2D, picture: GridPicture, look: Look): void {
  const { rows, seen, at } = picture;
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  if (at && at.row >= rows.from && at.row < rows.to) {
    context.fillStyle = look.wash;
    context.fillRect(0, HEAD + (at.row - rows.from) * ROW, (seen.to - seen.from) * COLUMN, ROW);
  }
  Object.assign(context, { font: look.font, textAlign: 'center' });
  const cells = new Map<number, number[]>();
  for (let index = seen.from; index < seen.to; index += 1) {
    drawHead(context, picture.versions[index]!, (index - seen.from) * COLUMN, look);
    sortColumn(cells, picture, index);
  }
  // All cells of a kind at once: a change of colour costs more than a cell.
  for (const [kind, places] of cells) drawKind(context, kind, places, look);
  if (!at || at.column < seen.from || at.row < rows.from) return;
  Object.assign(context, { strokeStyle: look.accent, lineWidth: 2 });
  context.strokeRect((at.column - seen.from) * COLUMN + 1, HEAD + (at.row - rows.from) * ROW + 1, COLUMN - 2, ROW - 2);
}

/** The size of a cell's box. */
const BOX = 12;
/** Kinds of cells: from failed, 0, over both outcomes to passed, then these. */
const [PASSED, UNMET, ERRORED, FLIPPED] = [BOX, BOX + 1, BOX + 2, BOX + 3];

/** Puts the places of a column's cells to those of their kind: x and y, one after the other. */
function sortColumn(cells: Map<number, number[]>, picture: GridPicture, index: number): void {
  const { tasks, versions, columns, rows, seen } = picture;
  const { parent } = versions[index]!;
  const [column, before] = [columns.get(index), parent === null ? undefined : columns.get(parent)];
  if (!column) return;
  const x = (index - seen.from) * COLUMN + 4;
  const put = (kind: number, y: number) => {
    const places = cells.get(kind) ?? [];
    if (places.push(x, y) === 2) cells.set(kind, places);
  };
  for (let row = rows.from; row < rows.to; row += 1) {
    const [task, y] = [tasks[row]!, HEAD + (row - rows.from) * ROW + 6];
    const cell = unpackCell(column, task);
    put(kindOf(cell), y);
    if (before && isFlip(unpackCell(before, task), cell)) put(FLIPPED, y);
  }
}

/** Full: passed. Empty with a stroke: failed. Partly full: both outcomes. Hatched: not met. Hatched with a mark: no result. */
function drawKind(context: CanvasRenderingContext2D, kind: number, places: readonly number[], look: Look): void {
  const tone = kind === PASSED ? look.good : kind === 0 ? look.bad : look.doubt;
  const strokeStyle = kind === FLIPPED ? look.ink : kind > PASSED ? look.line : tone;
  const fillStyle = kind > PASSED ? look.ink : tone;
  Object.assign(context, { strokeStyle, fillStyle, lineWidth: kind === FLIPPED ? 1.5 : 1 });
  for (let place = 0; place < places.length; place += 2) {
    const [x, y] = [places[place]!, places[place + 1]!];
    if (kind === FLIPPED) context.strokeRect(x - 1.5, y - 1.5, BOX + 3, BOX + 3);
    else if (kind > PASSED) drawLines(context, x, y, HATCH);
    else {
      if (kind < PASSED) context.strokeRect(x + 0.5, y + 0.5, BOX - 1, BOX - 1);
      if (kind > 0) context.fillRect(x, y + BOX - kind, BOX, kind);
      else drawLines(context, x, y, SLASH);
    }
    if (kind !== ERRORED) continue;
    context.fillRect(x + 5.25, y + 2, 1.5, 5);
    context.fillRect(x + 5.25, y + 8.5, 1.5, 1.5);
  }
}

/** Lines in a cell, from x and y to x and y. */
const SLASH = [3.5, 3.5, 8.5, 8.5];
const HATCH = [0, 4, 4, 0, 0, 8, 8, 0, 0, 12, 12, 0, 4, 12, 12, 4, 8, 12, 12, 8];

function drawLines(context: CanvasRenderingContext2D, x: number, y: number, lines: readonly number[]): void {
  context.beginPath();
  for (let line = 0; line < lines.length; line += 4) {
    context.moveTo(x + lines[line]!, y + lines[line + 1]!);
    context.lineTo(x + lines[line + 2]!, y + lines[line + 3]!);
  }
  context.stroke();
}

function drawHead(context: CanvasRenderingContext2D, { fate, step }: VersionRow, x: number, look: Look): void {
  const isTaken = fate === 'accepted' || fate === 'start';
  context.fillStyle = isTaken ? look.ink : look.soft;
  context.fillText(String(step), x + COLUMN / 2, 13);
  context.fillStyle = isTaken ? look.good : fate === 'undecided' ? look.doubt : look.bad;
  if (isTaken) context.fillRect(x + 4, 18, 12, 3);
  else context.fillRect(x + 7, 19, 6, 1);
}

function kindOf(cell: GridCell | undefined): number {
  if (cell === undefined) return UNMET;
  const { score, attempts, passed } = cell;
  if (score === null) return ERRORED;
  if (passed === 0 || passed === attempts) return score >= PASS_MARK ? PASSED : 0;
  return Math.min(PASSED - 1, Math.max(1, Math.round((BOX * passed) / attempts)));
}

/** Passed before and fails now, or the reverse. With both outcomes under one version it may be luck, and is none. */
function isFlip(before: GridCell | undefined, after: GridCell | undefined): boolean {
  if (!before || !after || before.score === null || after.score === null) return false;
  const isSure = ({ passed, attempts }: GridCell) => passed === 0 || passed === attempts;
  return isSure(before) && isSure(after) && before.score >= PASS_MARK !== after.score >= PASS_MARK;
}

type Sight = { readonly rows: Window; readonly seen: Window; readonly tasks: number; readonly versions: number };

/** Where a key leads; the first one leads into the window. */
function placeAfter(key: string, at: Place | null, { rows, seen, tasks, versions }: Sight): Place | undefined {
  const move = MOVES[key];
  if (!move) return undefined;
  if (!at) return { row: rows.from, column: seen.from };
  return { row: clamp(at.row + move[0], tasks), column: clamp(at.column + move[1], versions) };
}

const isSame = (one: Window, other: Window) => one.from === other.from && one.to === other.to;
const clamp = (value: number, count: number) => Math.min(count - 1, Math.max(0, value));
