import { mean, sum } from '../interval.ts';
import { type Row, SHOWN_ONLY } from '../row.ts';
import type { Figures } from './figures.ts';
import { type Judged, points, times } from './judged.ts';

/** In each world the reported score is near the truth; intervals and claims are pooled, since single worlds have few runs. */
export function honestyRow(name: string, judged: readonly Judged[]): Row {
  const all = judged.map(({ figures }) => figures);
  const worst = judged.reduce((a, b) => (Math.abs(b.figures.error) > Math.abs(a.figures.error) ? b : a));
  const covers = mean(all.map((f) => f.covers));
  const large = sum(all.map((f) => f.large));
  const claimed = sum(all.map((f) => f.largeClaims)) / Math.max(1, large);
  return {
    what: `${name}: reported − true, interval covers, gains ≥ 15 points claimed`,
    goal: '± 1 point in the mean, ≥ 92 %, ≥ 85 %',
    measured: `${points(mean(all.map((f) => f.error)), 2)} points (worst world ${points(worst.figures.error)}, ${worst.spec.name}), ${points(covers)} %, ${points(claimed)} % of ${large}`,
    holds: Math.abs(mean(all.map((f) => f.error))) <= 0.01 && covers >= 0.92 && claimed >= 0.85,
    figures: { errors: all.map((f) => f.error), covers, claimed },
  };
}

/** What was reported, beside the tasks that it was measured on and beside fresh ones. */
export function pooledErrorRows(judged: readonly Judged[]): Row[] {
  const error = meanOf(judged, (f) => f.error);
  const covers = sumOf(judged, (f) => f.freshCovers) / sumOf(judged, (f) => f.reports);
  const measured: Row = {
    what: `${judged.length} worlds that are not null: reported − true on the measured tasks`,
    goal: '± 1 point',
    measured: `${points(error, 2)} points; peer ${points(meanOf(judged, (f) => f.naiveError))}`,
    holds: Math.abs(error) <= 0.01,
    figures: { error },
  };
  const coverage: Row = {
    what: `${judged.length} worlds that are not null: interval of the gain covers the truth on fresh tasks`,
    goal: '93–97 %',
    measured: `${points(covers)} %`,
    holds: covers >= 0.93 && covers <= 0.97,
    figures: { covers },
  };
  return [measured, coverage, ...SIZES.map((size) => freshErrorRow(judged, size))];
}

type Size = { readonly name: string; readonly from: number; readonly to: number };

const SIZES: readonly Size[] = [
  { name: '8…20', from: 8, to: 20 },
  { name: '30…60', from: 30, to: 60 },
  { name: '≥ 100', from: 100, to: Number.POSITIVE_INFINITY },
];

function freshErrorRow(judged: readonly Judged[], { name, from, to }: Size): Row {
  const such = judged.filter(({ spec }) => spec.n >= from && spec.n <= to);
  const reports = sumOf(such, (f) => f.reports);
  const [error, covers] = [sumOf(such, (f) => f.freshError) / reports, sumOf(such, (f) => f.freshCovers) / reports];
  const naiveError = sumOf(such, (f) => f.naiveFreshError) / sumOf(such, (f) => f.naiveReports);
  return {
    what: `  ${name} validation tasks, ${such.length} worlds: reported − true gain on fresh tasks, interval covers`,
    goal: SHOWN_ONLY,
    measured: `${points(error, 2)} points, ${points(covers)} %; peer ${points(naiveError)} points`,
    figures: { error, covers },
  };
}

const sumOf = (judged: readonly Judged[], figure: (figures: Figures) => number) =>
  sum(judged.map(({ figures }) => figure(figures)));

const meanOf = (judged: readonly Judged[], figure: (figures: Figures) => number) =>
  mean(judged.map(({ figures }) => figure(figures)));

export function believedRow(judged: readonly Judged[]): Row {
  const byWorld = judged.map(({ figures }) => figures).filter((f) => f.accepts > 0);
  const errors = byWorld.map((f) => f.believedError / f.accepts);
  return {
    what: 'family: believed − true after an accept',
    goal: '± 1.5 points in the mean',
    measured: `${points(mean(errors), 2)} points, by world ${points(Math.min(...errors))} to ${points(Math.max(...errors))}`,
    holds: Math.abs(mean(errors)) <= 0.015,
    figures: { byWorld: errors },
  };
}

export function nullRow({ spec, figures: f }: Judged): Row {
  return {
    what: `${spec.name}: runs that claim, reported − true, covers`,
    goal: '≤ 4 %, ± 1 point, ≥ 92 %',
    measured: `${points(f.naiveClaims)} → ${points(f.claims)} %, ${points(f.naiveError)} → ${points(f.error, 2)} points, ${points(f.covers)} %; null accepted ${f.nullAccepted.map(times).join(' → ')}`,
    holds: f.claims <= 0.04 && Math.abs(f.error) <= 0.01 && f.covers >= 0.92,
    figures: { claims: f.claims, error: f.error, covers: f.covers },
  };
}
