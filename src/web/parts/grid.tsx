import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { GridColumn, VersionRow } from '../../core/page/index.ts';
import { onTheme } from './colors.ts';
import { drawGrid, type GridColors, gridColors } from './grid-canvas.ts';
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
  const { tasks, versions, columns, at, onSeen, onMove, onOpen, name } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [windows, setWindows] = useState({ rows: none, seen: none });
  const rows = useMemo(() => within(windows.rows, tasks.length), [windows.rows, tasks.length]);
  const seen = useMemo(() => within(windows.seen, versions.length), [windows.seen, versions.length]);
  const colors = useRef<GridColors | null>(null);
  const look = useCallback(() => {
    const [element, drawn] = [box.current, canvas.current];
    if (!element || !drawn) return; // a scroll may be told after the end
    setWindows({
      rows: windowOf(element.scrollTop, drawn.clientHeight - HEAD, ROW, tasks.length),
      seen: windowOf(element.scrollLeft, drawn.clientWidth, COLUMN, versions.length),
    });
  }, [tasks.length, versions.length]);
  const draw = useCallback(() => {
    const element = canvas.current;
    if (!element) return;
    const [width, height] = [element.clientWidth * devicePixelRatio, element.clientHeight * devicePixelRatio];
    if (element.width !== width || element.height !== height) Object.assign(element, { width, height });
    colors.current ??= gridColors(box.current!);
    drawGrid(element.getContext('2d')!, { tasks, versions, columns, rows, seen, at }, colors.current);
  }, [tasks, versions, columns, rows, seen, at]);
  useEffect(draw, [draw]);
  useEffect(() => onSeen(seen), [seen, onSeen]);
  useEffect(() => {
    look();
    const resized = new ResizeObserver(look);
    resized.observe(box.current!);
    return () => resized.disconnect();
  }, [look]);
  useEffect(
    () =>
      onTheme(() => {
        colors.current = null;
        draw();
      }),
    [draw],
  );
  const pointed = ({ nativeEvent }: PointerEvent) => placeAt(nativeEvent.offsetX, nativeEvent.offsetY, rows, seen);
  const onKey = (event: KeyboardEvent) => {
    const move = MOVES[event.key];
    if (event.key === 'Enter' && at) onOpen(at);
    if (!move) return;
    event.preventDefault();
    const place = {
      row: clamp((at?.row ?? rows.from) + (at ? move[0] : 0), tasks.length),
      column: clamp((at?.column ?? seen.from) + (at ? move[1] : 0), versions.length),
    };
    box.current!.scrollTo(scrollFor(place.column, seen, COLUMN), scrollFor(place.row, rows, ROW));
    onMove(place);
  };
  const shown = Array.from({ length: rows.to - rows.from }, (_, index) => rows.from + index);
  return (
    <div ref={box} className="grid" onScroll={look}>
      <div className="sizer" style={{ height: HEAD + tasks.length * ROW, width: versions.length * COLUMN }}>
        <div className="pane">
          <ul className="names">
            {shown.map((row) => (
              <li key={tasks[row]} className={at?.row === row ? 'is-at' : ''}>
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

const clamp = (value: number, count: number) => Math.min(count - 1, Math.max(0, value));
