import type { CurvePoint, RunFigures } from '../../core/page/index.ts';

export type CurveAxis = 'step' | 'calls' | 'dollars';

/** Columns for the picture: places, band, current, best, and candidates by fate. `null` where there is nothing. */
export type CurveData = {
  readonly x: number[];
  readonly high: number[];
  readonly low: number[];
  readonly current: number[];
  readonly best: number[];
  readonly taken: (number | null)[];
  readonly refused: (number | null)[];
  readonly undecided: (number | null)[];
};

const placeOf = ({ step, calls, costUsd }: CurvePoint, axis: CurveAxis) =>
  axis === 'step' ? step : axis === 'calls' ? calls : costUsd;

/** The first skill stands at 0. */
export function curveData({ curve, summary }: Pick<RunFigures, 'curve' | 'summary'>, axis: CurveAxis): CurveData {
  const start = summary.baselineSelectionScore;
  const at = start === null ? [] : [start];
  const hundred = (score: number) => score * 100;
  const candidates = (isShown: (fate: CurvePoint['fate']) => boolean) => [
    ...at.map(() => null),
    ...curve.map(({ candidate, fate }) => (candidate !== null && isShown(fate) ? hundred(candidate) : null)),
  ];
  return {
    x: [...at.map(() => 0), ...curve.map((point) => placeOf(point, axis))],
    high: [...at, ...curve.map(({ band }) => band.high)].map(hundred),
    low: [...at, ...curve.map(({ band }) => band.low)].map(hundred),
    current: [...at, ...curve.map(({ current }) => current)].map(hundred),
    best: [...at, ...curve.map(({ best }) => best)].map(hundred),
    taken: candidates((fate) => fate === 'accepted'),
    refused: candidates((fate) => fate === 'rejected' || fate === 'invalid'),
    undecided: candidates((fate) => fate === 'undecided'),
  };
}
