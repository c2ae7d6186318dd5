import { sum } from '../interval.ts';
import { type Row, SHOWN_ONLY } from '../row.ts';
import type { Section } from '../section.ts';
import { LATENCIES, type Latency, MOST_OF_ROUNDS, QUICK_LATENCIES, ROUNDS_AT_MS, SIDES, type Side } from './setting.ts';
import { countRounds, timeTraining } from './train-timed.ts';

const FIRST_SEED = 1001;

type BySide = Readonly<Record<Side, number>>;
/** Over the seeds of a latency, together. */
type Timed = { readonly latency: Latency; readonly ms: BySide; readonly rounds: BySide };

/** How long whole runs take when every call takes as long, on a real disk: beside each other, and beside their longest chain of calls. */
export const wallClockSection: Section = {
  name: 'wall-clock',
  async run({ isQuick, from = FIRST_SEED, seeds }, say) {
    const latencies = (isQuick ? QUICK_LATENCIES : LATENCIES).map((latency) => ({
      ...latency,
      seeds: seeds ?? latency.seeds,
    }));
    const timed: Timed[] = [];
    for (const latency of latencies) {
      timed.push(await timeSides(latency, from));
      say(`${latency.ms} ms: ${secondsOf(timed.at(-1)!.ms)}`);
    }
    const atRounds = timed.filter(({ latency }) => latency.ms === ROUNDS_AT_MS);
    return { rows: [...timed.map(ratioRow), ...atRounds.map(roundsRow), ...timed.map(lossRow)] };
  },
};

/** The sides take turns, so that a busy minute of the machine meets both. */
async function timeSides(latency: Latency, from: number): Promise<Timed> {
  const runs = Array.from({ length: latency.seeds }, (_, index) =>
    SIDES.map((side) => ({ side, seed: from + index })),
  ).flat();
  const rounds = await oneByOne(runs, countRounds); // and the engine compiles meanwhile
  const time = (run: (typeof runs)[number]) => timeTraining(run, latency.ms);
  const ms = await (latency.isTogether ? Promise.all(runs.map(time)) : oneByOne(runs, time));
  const total = (figures: readonly number[]) => {
    const of = (side: Side) => sum(figures.filter((_, index) => runs[index]!.side === side));
    return { paper: of('paper'), default: of('default') };
  };
  return { latency, ms: total(ms), rounds: total(rounds) };
}

async function oneByOne<T>(items: readonly T[], work: (item: T) => Promise<number>): Promise<number[]> {
  const results: number[] = [];
  for (const item of items) results.push(await work(item));
  return results;
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

function roundsRow({ latency, ms, rounds }: Timed): Row {
  const shares = SIDES.map((side) => ms[side] / (rounds[side] * latency.ms));
  return {
    what: `${latency.ms} ms a call: wall-clock beside rounds × latency, paper · default`,
    goal: `≤ ${MOST_OF_ROUNDS} ×`,
    measured: `${shares.map((share) => share.toFixed(3)).join(' · ')} ×`,
    holds: Math.max(...shares) <= MOST_OF_ROUNDS,
    figures: { shares },
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
