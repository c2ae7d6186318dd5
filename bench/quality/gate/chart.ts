import { mean } from '../interval.ts';
import type { Figures } from './rows.ts';
import { MIXES } from './stream.ts';

/** A validation set of the chart, such as `40 graded`. */
export type ChartedSet = { readonly label: string; readonly figures: Figures };

type Pair = { readonly strict: number; readonly ours: number };
type Panel = {
  readonly title: string;
  readonly pairs: readonly Pair[];
  readonly top: number;
  readonly bottom: number;
  /** Between lines of the grid. Top and bottom are multiples of it. */
  readonly step: number;
};

const PANEL = { width: 420, height: 250, left: 44, top: 34, right: 14, bottom: 52 } as const;
const HEAD = 46;
const PLOT = {
  width: PANEL.width - PANEL.left - PANEL.right,
  height: PANEL.height - PANEL.top - PANEL.bottom,
} as const;

const STYLE = `
  .paper { fill: #ffffff } .ink { fill: #1f2328 } .faint { fill: #59636e }
  .grid { stroke: #d1d9e0 } .link { stroke: #b0b8c0 } .strict { fill: #bc4c00 } .ours { fill: #0969da }
  text { font: 12px system-ui, sans-serif } .title { font-weight: 600 } .small { font-size: 11px }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .ink { fill: #f0f6fc } .faint { fill: #9198a1 }
    .grid { stroke: #30363d } .link { stroke: #59636e } .strict { fill: #f0883e } .ours { fill: #58a6ff }
  }`;

/** True gain in the three mixes, and what is reported beyond the truth: the strict gate beside ours. */
export function drawChart(sets: readonly ChartedSet[]): string {
  const ordered = sets.toSorted((a, b) => placeOf(a) - placeOf(b));
  const panels = [0, 1, 2].map((mix) => gainPanel(ordered, mix)).concat(errorPanel(ordered));
  const [width, height] = [2 * PANEL.width, HEAD + 2 * PANEL.height];
  const drawn = panels.map((panel, index) => {
    const place = `translate(${(index % 2) * PANEL.width} ${HEAD + Math.floor(index / 2) * PANEL.height})`;
    return `<g transform="${place}">\n${drawPanel(panel, ordered)}\n</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="name">`,
    '<title id="name">True gain and reporting error of the strict gate and of ours, by validation set</title>',
    `<style>${STYLE}\n</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    legend(),
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

/** Pass or fail by size, then the other kinds of score. */
function placeOf(set: ChartedSet): number {
  return Number.parseInt(set.label, 10) + (isBinary(set) ? 0 : 1000);
}

function gainPanel(sets: readonly ChartedSet[], mix: number): Panel {
  const pairs = sets.map(({ figures }) => ({ strict: 100 * figures.strictGain[mix]!, ours: 100 * figures.gain[mix]! }));
  const { good, harmful } = MIXES[mix]!;
  const title = `True gain, ${percent(good)} good and ${percent(harmful)} harmful edits`;
  return { title, pairs, bottom: 0, top: 40, step: 10 };
}

function errorPanel(sets: readonly ChartedSet[]): Panel {
  const pairs = sets.map(({ figures }) => ({
    strict: 100 * mean(figures.strictError),
    ours: 100 * mean(figures.error),
  }));
  const top = 5 * Math.ceil(Math.max(...pairs.map(({ strict }) => strict)) / 5);
  return { title: 'Reported − true score, mean of all worlds', pairs, bottom: -5, top, step: 5 };
}

function legend(): string {
  return [
    '<g transform="translate(40 26)">',
    '<circle class="strict" cx="5" cy="-4" r="5"/><text class="ink" x="16">strict gate</text>',
    '<circle class="ours" cx="105" cy="-4" r="5"/><text class="ink" x="116">ours</text>',
    '<text class="faint" x="165">points of 100, by items of the validation set, at equal rollouts</text>',
    '</g>',
  ].join('\n');
}

function drawPanel({ title, pairs, top, bottom, step }: Panel, sets: readonly ChartedSet[]): string {
  const yOf = (value: number) => round(PANEL.top + (PLOT.height * (top - value)) / (top - bottom));
  const xOf = (index: number) => round(PANEL.left + PLOT.width * placeAcross(sets, index));
  const lines = ticks(bottom, top, step).map(
    (value) =>
      `<line class="grid" x1="${PANEL.left}" x2="${PANEL.width - PANEL.right}" y1="${yOf(value)}" y2="${yOf(value)}"/>` +
      `<text class="faint small" x="${PANEL.left - 6}" y="${yOf(value) + 4}" text-anchor="end">${String(value).replace('-', '−')}</text>`,
  );
  const marks = pairs.map(
    ({ strict, ours }, index) =>
      `<line class="link" x1="${xOf(index)}" x2="${xOf(index)}" y1="${yOf(strict)}" y2="${yOf(ours)}"/>` +
      `<circle class="strict" cx="${xOf(index)}" cy="${yOf(strict)}" r="4"/>` +
      `<circle class="ours" cx="${xOf(index)}" cy="${yOf(ours)}" r="4"/>`,
  );
  const names = sets.map((set, index) => drawName(set, xOf(index)));
  const heading = `<text class="ink title" x="${PANEL.left}" y="18">${title}</text>`;
  return [heading, ...lines, ...marks, ...names].join('\n');
}

/** From 0 to 1. The other kinds of score stand apart from the sizes, and need more room for their names. */
function placeAcross(sets: readonly ChartedSet[], index: number): number {
  const widths = sets.map((set) => (isBinary(set) ? 1 : 1.4));
  const before = widths.slice(0, index).reduce((sum, width) => sum + width, 0);
  const all = widths.reduce((sum, width) => sum + width, 0);
  return (before + widths[index]! / 2) / all;
}

/** The size, and below it the kind of the scores where it is not pass or fail. */
function drawName(set: ChartedSet, x: number): string {
  const [n, kind = ''] = set.label.split(' ');
  const y = PANEL.height - PANEL.bottom + 16;
  const words = isBinary(set) ? [n] : [n, kind.split('-').at(-1)];
  return words
    .map((word, line) => `<text class="faint small" x="${x}" y="${y + 14 * line}" text-anchor="middle">${word}</text>`)
    .join('');
}

const isBinary = ({ label }: ChartedSet) => label.endsWith('binary');
const percent = (share: number) => `${Math.round(100 * share)} %`;

function ticks(bottom: number, top: number, step: number): number[] {
  return Array.from({ length: Math.round((top - bottom) / step) + 1 }, (_, index) => bottom + index * step);
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}
