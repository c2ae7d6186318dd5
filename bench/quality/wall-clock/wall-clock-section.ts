import packPackage from '../../../test/support/package.ts';
import { median } from '../../row.ts';
import { sum } from '../interval.ts';
import { type Row, SHOWN_ONLY } from '../row.ts';
import type { Section } from '../section.ts';
import { type BesidePlain, timeBesidePlain } from './beside-plain.ts';
import { LATENCIES, type Latency, MOST_CPU_MS, MOST_PEAK_MB, QUICK_LATENCIES, SIDES, type Side } from './setting.ts';
import { timeRuns } from './time-runs.ts';

const FIRST_SEED = 1001;

type BySide = Readonly<Record<Side, number>>;
/** Over the seeds of a latency, together. */
type Timed = {
  readonly latency: Latency;
  readonly ms: BySide;
  readonly rounds: BySide;
  readonly runs: readonly BesidePlain[];
};

/**
 * How long whole runs take when every call takes as long, on a real disk: beside each other, beside their longest chain of calls,
 * and beside a plain trainer over HTTP.
 */
export const wallClockSection: Section = {
  name: 'wall-clock',
  async run({ isQuick, from = FIRST_SEED, seeds }, say) {
    const latencies = (isQuick ? QUICK_LATENCIES : LATENCIES).map((latency) => ({
      ...latency,
      seeds: seeds ?? latency.seeds,
    }));
    packPackage(); // what a user would install trains beside the plain trainer
    const timed: Timed[] = [];
    for (const latency of latencies) {
      timed.push(await timeSides(latency, from));
      say(`${latency.ms} ms: ${secondsOf(timed.at(-1)!.ms)}`);
    }
    const ours = timed.flatMap(({ runs }) => runs.map((run) => run.ours));
    const beside = [...timed.map(plainRow), cpuRow(ours), memoryRow(ours)];
    return { rows: [...timed.map(ratioRow), ...timed.flatMap(roundsRow), ...timed.map(lossRow), ...beside] };
  },
};

/** The sides take turns, so that a busy minute of the machine meets both. */
async function timeSides(latency: Latency, from: number): Promise<Timed> {
  const runs = Array.from({ length: latency.seeds }, (_, index) =>
    SIDES.map((side) => ({ side, seed: from + index })),
  ).flat();
  const { rounds, ms } = await timeRuns(runs, latency);
  const total = (figures: readonly number[]) => {
    const of = (side: Side) => sum(figures.filter((_, index) => runs[index]!.side === side));
    return { paper: of('paper'), default: of('default') };
  };
  const seedsOnce = runs.filter(({ side }) => side === 'default').map(({ seed }) => seed);
  const beside: BesidePlain[] = [];
  for (const seed of seedsOnce) beside.push(await timeBesidePlain(seed, latency.ms));
  return { latency, ms: total(ms), rounds: total(rounds), runs: beside };
}

function ratioRow({ latency, ms, rounds }: Timed): Row {
  const ratio = ms.default / ms.paper;
  return {
    what: `${latency.ms} ms a call: wall-clock of the default`,
    goal: `≤ ${latency.mostRatio} × the paper's`,
    measured: `${ratio.toFixed(2)} × (${secondsOf(ms)}; ${rounds.paper} → ${rounds.default} rounds)`,
    holds: ratio <= latency.mostRatio,
    figures: { ratio, ms: listed(ms), rounds: listed(rounds) },
  };
}

function roundsRow({ latency: { ms: each, mostOfRounds: most }, ms, rounds }: Timed): Row[] {
  if (most === undefined) return [];
  const shares = SIDES.map((side) => ms[side] / (rounds[side] * each));
  return [
    {
      what: `${each} ms a call: wall-clock beside rounds × latency, paper · default`,
      goal: `≤ ${most} ×`,
      measured: `${shares.map((share) => share.toFixed(3)).join(' · ')} ×`,
      holds: Math.max(...shares) <= most,
      figures: { shares },
    },
  ];
}

function plainRow({ latency, runs }: Timed): Row {
  const [ours, plain] = [runs.map((run) => run.ours), runs.map((run) => run.plain)];
  const [own, other] = [ours, plain].map((each) => sum(each.map(({ ms }) => ms)));
  const calls = [ours, plain].map((each) => sum(each.map((run) => run.calls)));
  const ratio = own! / other!;
  const times = [other!, own!].map((ms) => (ms / 1000).toFixed(1)).join(' → ');
  return {
    what: `${latency.ms} ms a call over HTTP: the default in a new process, beside a plain Python trainer`,
    goal: `≤ ${latency.mostOfPlain} ×`,
    measured: `${ratio.toFixed(2)} × (${times} s; ${calls.join(' and ')} target calls)`,
    holds: ratio <= latency.mostOfPlain,
    figures: { ratio, calls, ours: ours.map(({ ms }) => ms), plain: plain.map(({ ms }) => ms) },
  };
}

function cpuRow(ours: readonly BesidePlain['ours'][]): Row {
  const cpuMs = ours.map((run) => run.cpuMs);
  return {
    what: 'a default run of 680 rollouts in a new process: own CPU with its start and its HTTP, median',
    goal: `≤ ${MOST_CPU_MS / 1000} s`,
    measured: `${(median(cpuMs) / 1000).toFixed(2)} s`,
    holds: median(cpuMs) <= MOST_CPU_MS,
    figures: { cpuMs },
  };
}

function memoryRow(ours: readonly BesidePlain['ours'][]): Row {
  const peakMb = ours.map((run) => run.peakMb);
  return {
    what: 'the same: peak memory of the process, largest',
    goal: `≤ ${MOST_PEAK_MB} MB`,
    measured: `${Math.max(...peakMb).toFixed(0)} MB`,
    holds: Math.max(...peakMb) <= MOST_PEAK_MB,
    figures: { peakMb },
  };
}

function lossRow({ latency, ms, rounds }: Timed): Row {
  const lost = SIDES.map((side) => ms[side] / rounds[side] - latency.ms);
  return {
    what: `${latency.ms} ms a call: lost a round, paper · default`,
    goal: SHOWN_ONLY,
    measured: `${lost.map((each) => each.toFixed(1)).join(' · ')} ms`,
    figures: { lost },
  };
}

const listed = (figures: BySide) => SIDES.map((side) => figures[side]);
const secondsOf = (ms: BySide) =>
  `${listed(ms)
    .map((each) => (each / 1000).toFixed(1))
    .join(' → ')} s`;
