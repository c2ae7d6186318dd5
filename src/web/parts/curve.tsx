import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { CurvePoint, RunFigures } from '../../core/page/index.ts';
import { percent, plural } from '../../core/text/index.ts';
import { onTheme, themeColor } from './colors.ts';
import { type CurveAxis, curveData } from './curve-data.ts';
import { type Column, numbers, Table } from './table.tsx';

type CurveProps = {
  readonly figures: RunFigures;
  readonly axis: CurveAxis;
  readonly height: number;
  readonly onStep: (step: number) => void;
};

/** Best, current with its band, candidates as points, and the final measurement as a bar with its interval. */
export function Curve(props: CurveProps) {
  const { figures, axis } = props;
  const { box, at } = usePlot(props);
  const { verdict, curve, summary } = figures;
  const about = `Score by ${axis}: from ${percent(summary.baselineSelectionScore)} to ${percent(summary.bestSelectionScore)} in ${curve.length} steps. ${verdict.kind}.`;
  const isEmpty = curve.length === 0 && summary.baselineSelectionScore === null;
  return (
    <div className="curve">
      <p className="readout" aria-hidden="true">
        {isEmpty
          ? 'Nothing is measured yet. The curve begins with the score of the first skill.'
          : readout(figures, at)}
      </p>
      <div ref={box} role="img" aria-label={about} className={isEmpty ? 'is-empty' : ''} />
      <p className="legend note">{LEGEND}</p>
      <CurveTable figures={figures} />
    </div>
  );
}

/** Draws in the element `box`. `at` is the place of the cursor. */
function usePlot({ figures, axis, height, onStep }: CurveProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const drawn = useRef<RunFigures | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const [theme, setTheme] = useState(0);
  const latest = useRef({ figures, onStep });
  latest.current = { figures, onStep };
  useEffect(() => onTheme(() => setTheme((count) => count + 1)), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new theme needs new colours
  useEffect(() => {
    const element = box.current!;
    const made = new uPlot(
      optionsOf(element, { axis, height, setAt, latest }),
      tableOf(latest.current.figures, axis),
      element,
    );
    plot.current = made;
    drawn.current = latest.current.figures;
    const resized = new ResizeObserver(() => {
      const { clientWidth: width } = element;
      if (width !== made.width) made.setSize({ width, height });
    });
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
    };
  }, [axis, height, theme]);
  useEffect(() => {
    if (drawn.current === figures) return; // just made with them
    drawn.current = figures;
    plot.current?.setData(tableOf(figures, axis));
  }, [figures, axis]);
  return { box, at };
}

const LEGEND =
  'line: best · dashed: current, with its noise · dot: accepted · ring: rejected or undecided · bar at the end: the best, measured again';

const tableOf = (figures: RunFigures, axis: CurveAxis): uPlot.AlignedData => {
  const { x, high, low, current, best, taken, refused, undecided } = curveData(figures, axis);
  return [x, high, low, current, best, taken, refused, undecided];
};

function readout({ curve, summary }: RunFigures, at: number | null) {
  const index = (at ?? curve.length) - (summary.baselineSelectionScore === null ? 0 : 1);
  const point = at === null ? curve.at(-1) : curve[index];
  if (!point) return `first skill ${percent(summary.baselineSelectionScore)}`;
  const { step, best, current, band, candidate, fate } = point;
  const tried = candidate === null ? '' : ` · candidate ${percent(candidate)} ${fate}`;
  return `step ${step} · best ${percent(best)} · current ${percent(current)} (${percent(band.low)} to ${percent(band.high)})${tried}`;
}

type Wiring = {
  readonly axis: CurveAxis;
  readonly height: number;
  readonly setAt: (at: number | null) => void;
  readonly latest: { readonly current: Pick<CurveProps, 'figures' | 'onStep'> };
};

function optionsOf(element: HTMLElement, { axis, height, setAt, latest }: Wiring): uPlot.Options {
  const color = (name: string) => themeColor(element, name);
  const ink = color('ink');
  const stepAt = ({ cursor }: uPlot) => {
    const { curve, summary } = latest.current.figures;
    return curve[(cursor.idx ?? 0) - (summary.baselineSelectionScore === null ? 0 : 1)]?.step;
  };
  return {
    width: element.clientWidth || 600,
    height,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
    scales: {
      x: {
        time: false,
        range: (_, low, high) => {
          const { curve, summary } = latest.current.figures;
          // Before the first step there is one point at most: what is planned gives the width.
          if (curve.length === 0) return [0, axis === 'step' ? Math.max(1, summary.totalSteps) : 1];
          return [low, high + Math.max((high - low) * 0.06, 1e-6)];
        },
      },
      y: { range: rangeOf },
    },
    axes: axesOf(axis, { color, font: `11px ${getComputedStyle(element).fontFamily}` }),
    bands: [{ series: [1, 2], fill: color('band') }],
    series: seriesOf(color),
    hooks: {
      draw: [(plot) => drawFinal(plot, latest.current.figures, ink)],
      setCursor: [({ cursor }) => setAt(cursor.idx ?? null)],
      ready: [
        (plot) =>
          plot.over.addEventListener('click', () => {
            const step = stepAt(plot);
            if (step !== undefined) latest.current.onStep(step);
          }),
      ],
    },
  };
}

type Color = (name: string) => string;

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

function axesOf(axis: CurveAxis, { color, font }: { readonly color: Color; readonly font: string }): uPlot.Axis[] {
  const [stroke, line] = [color('soft'), color('line')];
  return [
    {
      ...{ stroke, font, size: 26, gap: 2, space: 60 },
      grid: { show: false },
      ticks: { stroke: line, size: 4 },
      ...(axis === 'step' ? { incrs: STEPS } : {}),
    },
    {
      ...{ stroke, font, size: 44 },
      grid: { stroke: line, width: 1 },
      ticks: { show: false },
      values: (_, ticks) => ticks.map((tick) => `${tick} %`),
    },
  ];
}

/** In the order of the columns of `curveData`. */
function seriesOf(color: Color): uPlot.Series[] {
  const hidden = { points: { show: false } };
  const dots = (stroke: string, fill: string) => ({
    paths: () => null,
    points: { show: true, size: 8, width: 1.5, stroke, fill },
  });
  return [
    {},
    { stroke: 'transparent', ...hidden },
    { stroke: 'transparent', ...hidden },
    { stroke: color('soft'), width: 1, dash: [4, 3], ...hidden },
    { stroke: color('accent'), width: 2, ...hidden, paths: uPlot.paths.stepped!({ align: 1 }) },
    dots(color('good'), color('good')),
    dots(color('bad'), color('paper')),
    dots(color('doubt'), color('paper')),
  ];
}

/** Whole tens around what there is. */
function rangeOf(_plot: uPlot, low: number, high: number): [number, number] {
  const [from, to] = [Math.floor(low / 10) * 10, Math.ceil(high / 10) * 10];
  return [Math.max(0, from), Math.min(104, Math.max(to, from + 20) + 4)];
}

/** At the right edge: the score of the winner by fresh attempts. */
function drawFinal(plot: uPlot, { summary }: RunFigures, color: string): void {
  const { finalScore } = summary;
  if (!finalScore) return;
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const x = bbox.left + bbox.width - 8 * ratio;
  const y = (score: number) => plot.valToPos(score * 100, 'y', true);
  const { low, high } = finalScore.interval;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.lineWidth = 2 * ratio;
  ctx.beginPath();
  ctx.moveTo(x, y(low));
  ctx.lineTo(x, y(high));
  for (const end of [low, high]) {
    ctx.moveTo(x - 4 * ratio, y(end));
    ctx.lineTo(x + 4 * ratio, y(end));
  }
  ctx.stroke();
  ctx.beginPath();
  ctx.arc(x, y(finalScore.value), 4 * ratio, 0, 2 * Math.PI);
  ctx.fill();
  ctx.restore();
}

const SHOWN = 50;

const COLUMNS: readonly Column<CurvePoint>[] = [
  { head: 'Step', cell: ({ step }) => step },
  numbers('Best', ({ best }) => percent(best)),
  numbers('Current', ({ current }) => percent(current)),
  {
    ...numbers('Candidate', ({ candidate }) => (candidate === null ? 'not measured' : percent(candidate))),
    isMissing: ({ candidate }) => candidate === null,
  },
  { head: 'Fate', cell: ({ fate }) => fate },
];

/** The picture in numbers, for those who cannot see it. Made when it is opened. */
function CurveTable({ figures: { curve } }: { readonly figures: RunFigures }) {
  const [isOpen, setOpen] = useState(false);
  const rows = curve.slice(-SHOWN);
  const steps = plural(curve.length, 'step');
  return (
    <details className="numbers" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The curve as a table</summary>
      {isOpen ? (
        <Table
          columns={COLUMNS}
          rows={rows}
          caption={rows.length < curve.length ? `The last ${SHOWN} of ${steps}` : steps}
        />
      ) : null}
    </details>
  );
}
