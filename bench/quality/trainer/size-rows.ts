import { mean, meanInterval, ratioInterval } from '../interval.ts';
import { type Row, SHOWN_ONLY } from '../row.ts';
import { CELLS, type Cell, type Group } from './cells.ts';
import {
  type Both,
  type Figure,
  figuresOf,
  inWords,
  meansOf,
  points,
  type Runs,
  ratioOf,
  sharesOf,
  spread,
  times,
  valuesOf,
  whole,
} from './runs.ts';
import type { Size } from './setting.ts';

/** The runs of one size in cells of a kind. */
export type RunsIn = (isWanted: (cell: Cell) => boolean) => Runs;

const isAny = () => true;
const isHard = ({ group }: Cell) => group === 'own' || group === 'rules';
const isIn = (wanted: Group) => (cell: Cell) => cell.group === wanted;
const isSame = (wanted: Cell) => (cell: Cell) => cell === wanted;

/** Everything that is promised of one size. */
export function sizeRows(size: Size, runsIn: RunsIn): Row[] {
  const rows = [...gainRows(runsIn), ...costRows(size, runsIn), ...honestyRows(runsIn), ...shownRows(runsIn(isHard))];
  return rows.map((row) => ({ ...row, what: `${whole(size)} target calls: ${row.what}` }));
}

function gainRows(runsIn: RunsIn): Row[] {
  const groupRow = (group: Group, what: string, least: number) => {
    const cells = CELLS.filter(isIn(group)).map(isSame);
    return gainRow(what, runsIn(isIn(group)), least, ratiosIn(cells, 'gain', runsIn));
  };
  return [
    gainRow('true gain', runsIn(isHard), 1.3, ratiosIn(WORLDS, 'gain', runsIn)),
    groupRow('own', 'true gain, own world', 1.1),
    groupRow('rules', 'true gain, rules world', 1.1),
    groupRow('easy', 'true gain, easy optimizers', 0.95),
  ];
}

const WORLDS = [isIn('own'), isIn('rules')];

/** Each part for itself. */
function ratiosIn(parts: readonly ((cell: Cell) => boolean)[], figure: Figure, runsIn: RunsIn): number[] {
  return parts.map((isWanted) => ratioOf(runsIn(isWanted), figure).mean);
}

/** By the sums over all pairs. The ratios of the parts, and their mean, are shown. */
function gainRow(what: string, runs: Runs, least: number, parts: readonly number[]): Row {
  const [ratio, gain] = [ratioOf(runs, 'gain'), meansOf(runs, 'gain')];
  const room = mean(valuesOf(runs.default, 'room'));
  return {
    what,
    goal: `≥ ${least} ×`,
    measured: `${spread(ratio, times)} × [${inParts(parts)}]: ${inWords(gain, points)} of ${points(room)} points`,
    holds: ratio.mean >= least,
    figures: { ...figuresOf({ ...gain, ratio }), parts, meanOfParts: mean(parts), room },
  };
}

const inParts = (parts: readonly number[]) => `${parts.map(times).join(' · ')}; mean ${times(mean(parts))}`;

function costRows(size: Size, runsIn: RunsIn): Row[] {
  const costRow = (what: string, figure: Figure, most: number): Row => {
    const [ratio, means] = [ratioOf(runsIn(isHard), figure), meansOf(runsIn(isHard), figure)];
    const parts = ratiosIn(WORLDS, figure, runsIn);
    return {
      what,
      goal: `≤ ${most} ×`,
      measured: `${spread(ratio, times)} × [${inParts(parts)}]: ${inWords(means, whole)}`,
      holds: ratio.mean <= most,
      figures: { ...figuresOf({ ...means, ratio }), parts },
    };
  };
  return [
    costRow('optimizer calls', 'optimizerCalls', 2),
    costRow('optimizer tokens', 'optimizerTokens', 2),
    costRow('rounds', 'rounds', 1.3),
    callsRow(size, runsIn(isAny)),
  ];
}

/** Every run of ours is held to it, whatever world it is in. */
function callsRow(size: Size, runs: Runs): Row {
  const made = meansOf(runs, 'targetCalls');
  const most = Math.max(...valuesOf(runs.default, 'targetCalls'));
  return {
    what: 'made',
    goal: `no run of ours above ${whole(size)}`,
    measured: `${inWords(made, whole)}, ours ${whole(most)} at most`,
    holds: most <= size,
    figures: { ...figuresOf(made), most },
  };
}

/** Whether what is reported, claimed and believed is true. */
function honestyRows(runsIn: RunsIn): Row[] {
  const runs = runsIn(isHard);
  return [errorRow(runs), coverageRow(runs), claimRow(runs), believedRow(runs)];
}

export function errorRow(runs: Runs): Row {
  const error = meansOf(runs, 'error');
  return {
    what: 'reported − true, points',
    goal: '± 1 point',
    measured: inWords(error, points),
    holds: Math.abs(error.default.mean) <= 0.01,
    figures: figuresOf(error),
  };
}

export function coverageRow(runs: Runs): Row {
  const coverage = meanInterval(valuesOf(runs.default, 'covers'));
  return {
    what: '95 % interval covers',
    goal: '≥ 92 %',
    measured: `${spread(coverage, points)} %`,
    holds: coverage.mean >= 0.92,
    figures: figuresOf({ default: coverage }),
  };
}

const CLEAR_GAIN = 0.15;

/** A careful claim is worth little if it is never made. */
function claimRow({ default: ours }: Runs): Row {
  const clear = ours.filter(({ gain }) => gain >= CLEAR_GAIN);
  const claims = meanInterval(valuesOf(clear, 'claims'));
  const what = `runs with a true gain of ${100 * CLEAR_GAIN} points or more that claim, %`;
  if (clear.length < 2) return { what, goal: '≥ 85 %', measured: `${clear.length} such runs`, figures: {} };
  return {
    what,
    goal: '≥ 85 %',
    measured: `${spread(claims, points)} of ${clear.length}`,
    holds: claims.mean >= 0.85,
    figures: { ...figuresOf({ default: claims }), runs: clear.length },
  };
}

/** What the next candidate has to beat must not be a lucky draw. */
function believedRow({ default: ours }: Runs): Row {
  const error = ratioInterval(valuesOf(ours, 'believedError'), valuesOf(ours, 'accepts'));
  return {
    what: 'believed − true after an accept, points',
    goal: '± 1.5 points',
    measured: spread(error, points),
    holds: Math.abs(error.mean) <= 0.015,
    figures: figuresOf({ default: error }),
  };
}

function shownRows(runs: Runs): Row[] {
  const shown = (what: string, measures: Both, format = points): Row => {
    return { what, goal: SHOWN_ONLY, measured: inWords(measures, format), figures: figuresOf(measures) };
  };
  return [
    shown('runs that claim, %', meansOf(runs, 'claims')),
    shown('null candidates accepted, %', sharesOf(runs, 'nullAccepted', 'nullOffered')),
    shown('harmful candidates accepted, %', sharesOf(runs, 'harmfulAccepted', 'harmfulOffered')),
    shown('candidates', meansOf(runs, 'offered'), whole),
  ];
}
