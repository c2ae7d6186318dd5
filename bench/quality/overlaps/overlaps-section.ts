import { sum } from '../interval.ts';
import { type Row, SHOWN_ONLY } from '../row.ts';
import type { Section } from '../section.ts';
import { trainInTime, WAYS, type Way } from './train-in-time.ts';

const FIRST_SEED = 1001;
const SEEDS = 6;
const WORKERS = [8, 64] as const;
const ROLLOUT_SECONDS = [3, 12, 180] as const;
const WAY_NAMES = Object.keys(WAYS) as Way[];

/** Speculation would be built if it saved so much of the time for so many more rollouts. */
const PAYS = { saved: 0.15, bought: 0.15 } as const;

/** Sums over the seeds, by way. */
type Timed = Readonly<Record<Way, Awaited<ReturnType<typeof trainInTime>>>>;

/** Minutes of whole runs: one thing after the other, with overlaps that change no fact, and with guesses that may be wasted. */
export const overlapsSection: Section = {
  name: 'overlaps',
  async run({ isQuick, from = FIRST_SEED, seeds = isQuick ? 2 : SEEDS }, say) {
    const rows: Row[] = [];
    for (const rolloutSeconds of isQuick ? ROLLOUT_SECONDS.slice(1, 2) : ROLLOUT_SECONDS) {
      for (const workers of WORKERS) {
        const what = `rollouts of ${rolloutSeconds} s, ${workers} workers`;
        const timed = await timeWays({ rolloutSeconds, workers }, { from, seeds });
        rows.push(...rowsOf(what, timed, seeds));
        say(what);
      }
    }
    return { rows };
  },
};

type Setting = { readonly rolloutSeconds: number; readonly workers: number };

async function timeWays(setting: Setting, { from, seeds }: { from: number; seeds: number }): Promise<Timed> {
  const totals: Partial<Record<Way, Timed[Way]>> = {};
  for (const way of WAY_NAMES) {
    const runs: Timed[Way][] = [];
    for (let seed = from; seed < from + seeds; seed++) runs.push(await trainInTime({ way, seed, ...setting }));
    const total = (name: keyof Timed[Way]) => sum(runs.map((run) => run[name]));
    totals[way] = {
      minutes: total('minutes'),
      rollouts: total('rollouts'),
      steps: total('steps'),
      accepted: total('accepted'),
    };
  }
  return totals as Timed;
}

function rowsOf(what: string, timed: Timed, seeds: number): Row[] {
  const { 'in turn': inTurn, overlaps, ...guessing } = timed;
  const { saved, bought } = compare(overlaps, inTurn);
  const minutes = `${Math.round(inTurn.minutes / seeds)} → ${Math.round(overlaps.minutes / seeds)} min`;
  return [
    {
      what: `${what}: overlaps`,
      goal: 'no more time, no more rollouts',
      measured: `${percent(-saved)} (${minutes}; ${inTurn.accepted} of ${inTurn.steps} steps accepted)`,
      holds: saved >= 0 && bought === 0,
      figures: { saved, bought, minutes: [inTurn.minutes / seeds, overlaps.minutes / seeds] },
    },
    ...Object.entries(guessing).map(([way, guessed]) => guessRow(`${what}: ${way}`, compare(guessed, overlaps))),
  ];
}

/** Beside the same run with overlaps that waste nothing. */
function guessRow(what: string, { saved, bought }: ReturnType<typeof compare>): Row {
  const pays = saved >= PAYS.saved && bought <= PAYS.bought;
  return {
    what,
    goal: SHOWN_ONLY,
    measured: `${percent(-saved)} for ${percent(bought)} rollouts: ${pays ? 'pays' : 'does not pay'}`,
    figures: { saved, bought },
  };
}

const compare = (run: Timed[Way], base: Timed[Way]) => ({
  saved: 1 - run.minutes / base.minutes,
  bought: run.rollouts / base.rollouts - 1,
});

const percent = (share: number) => `${share > 0 ? '+' : '−'}${Math.abs(100 * share).toFixed(1)} %`;
