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
import type { GridColumn, VersionRow } from '../../core/page/index.ts';
import { onTheme } from './colors.ts';
import { drawGrid, type GridColors, type GridPicture, gridColors } from './grid-canvas.ts';
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
  // Elements are used again for other rows: making them costs more than the drawing of all cells.
  const shown = Array.from({ length: rows.to - rows.from }, (_, index) => rows.from + index);
  return (
    <div ref={box} className="grid" onScroll={look}>
      <div className="sizer" style={{ height: HEAD + tasks.length * ROW, width: versions.length * COLUMN }}>
        <div className="pane">
          <ul className="names">
            {shown.map((row) => (
              <li key={row % shown.length} className={at?.row === row ? 'is-at' : ''}>
                {name(row)}
              </li>
            ))}
          </ul>
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

type Box = RefObject<HTMLDivElement | null>;
type Canvas = RefObject<HTMLCanvasElement | null>;

/** Which rows and columns are in sight, and a function that looks again. */
function useWindows({ tasks, versions, onSeen }: GridProps, box: Box, canvas: Canvas) {
  const [windows, setWindows] = useState({ rows: none, seen: none });
  const rows = useMemo(() => within(windows.rows, tasks.length), [windows.rows, tasks.length]);
  const seen = useMemo(() => within(windows.seen, versions.length), [windows.seen, versions.length]);
  const look = useCallback(() => {
    const [element, drawn] = [box.current, canvas.current];
    if (!element || !drawn) return; // a scroll may be told after the end
    const [rows, seen] = [
      windowOf(element.scrollTop, drawn.clientHeight - HEAD, ROW, tasks.length),
      windowOf(element.scrollLeft, drawn.clientWidth, COLUMN, versions.length),
    ];
    setWindows((before) => (isSame(before.rows, rows) && isSame(before.seen, seen) ? before : { rows, seen }));
  }, [box, canvas, tasks.length, versions.length]);
  useEffect(() => onSeen(seen), [seen, onSeen]);
  useEffect(() => {
    look();
    const resized = new ResizeObserver(look);
    resized.observe(box.current!);
    return () => resized.disconnect();
  }, [box, look]);
  return { rows, seen, look };
}

/** Draws what is in sight whenever it changes, and again in a new theme. */
function useDrawing({ tasks, versions, columns, rows, seen, at }: GridPicture, box: Box, canvas: Canvas): void {
  const colors = useRef<GridColors | null>(null);
  const draw = useCallback(() => {
    const element = canvas.current;
    if (!element) return;
    const [width, height] = [element.clientWidth * devicePixelRatio, element.clientHeight * devicePixelRatio];
    if (element.width !== width || element.height !== height) Object.assign(element, { width, height });
    colors.current ??= gridColors(box.current!);
    drawGrid(element.getContext('2d')!, { tasks, versions, columns, rows, seen, at }, colors.current);
  }, [box, canvas, tasks, versions, columns, rows, seen, at]);
  useEffect(draw, [draw]);
  useEffect(
    () =>
      onTheme(() => {
        colors.current = null;
        draw();
      }),
    [draw],
  );
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
