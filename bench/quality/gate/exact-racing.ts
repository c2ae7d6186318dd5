import { addObservations, exactRace, hardestFirst, noEvidence, startable } from '../../../src/public/stats.ts';
import { createDice } from './dice.ts';
import { applyEdit, drawEditType, MIXES, rollout, seedSkill } from './stream.ts';

const IN_FLIGHT = 8;

const [KIND, CANDIDATES] = ['binary', 24] as const;

export type ExactRacingInput = {
  readonly mix: number;
  readonly n: number;
  readonly from: number;
  readonly seeds: number;
};

export type ExactRacing = { readonly used: number; readonly full: number; readonly differ: number };

/**
 * The strict gate with exact racing beside a full pass over the same rollouts: what is saved of the candidates' passes, and
 * whether any decision differs. Results come back in the order of the items, with at most eight in flight.
 */
export function runExactRacing({ from, seeds, ...input }: ExactRacingInput): ExactRacing {
  const all = { used: 0, full: 0, differ: 0 };
  for (let seed = from; seed < from + seeds; seed++) {
    const { used, full, differ } = runSeed(seed, input);
    all.used += used;
    all.full += full;
    all.differ += differ;
  }
  return all;
}

function runSeed(seed: number, { mix: place, n }: Pick<ExactRacingInput, 'mix' | 'n'>): ExactRacing {
  const dice = createDice(seed, n, place);
  const [mix, kind] = [MIXES[place]!, KIND];
  const ids = Array.from({ length: n }, (_, i) => `${i}`);
  let skill = seedSkill(dice, n);
  let scores = Array.from(skill, (p) => rollout(dice, kind, p));
  let bar = mean(scores);
  let seen = addObservations(noEvidence, observe(ids, scores));
  let [used, full, differ] = [0, 0, 0];
  for (let candidates = 0; candidates < CANDIDATES; candidates++) {
    const candidate = applyEdit(dice, skill, mix, drawEditType(dice, mix));
    scores = Array.from(candidate, (p) => rollout(dice, kind, p));
    const order = hardestFirst(ids, seen);
    const { finished, isLost } = race(
      order.map((id) => scores[+id]!),
      bar,
    );
    const isAccepted = mean(scores) > bar;
    if (isAccepted === isLost) differ++;
    used += finished;
    full += n;
    seen = addObservations(
      seen,
      observe(
        order.slice(0, finished),
        order.slice(0, finished).map((id) => scores[+id]!),
      ),
    );
    if (isAccepted) [skill, bar] = [candidate, mean(scores)];
  }
  return { used, full, differ };
}

/** How many rollouts are paid for, those in flight at the end included. */
function race(scores: readonly number[], bar: number): { finished: number; isLost: boolean } {
  let started = 0;
  for (let met = 0; met < scores.length; met++) {
    const input = { bar, finished: scores.slice(0, met), isPlainMean: true };
    const { state } = exactRace({ ...input, remaining: scores.length - met });
    if (state === 'cannot-win') return { finished: started, isLost: true };
    started += startable({
      ...input,
      inFlight: started - met,
      waiting: scores.length - started,
      limit: IN_FLIGHT,
    });
  }
  return { finished: scores.length, isLost: !(mean(scores) > bar) };
}

function observe(ids: readonly string[], scores: readonly number[]) {
  return ids.map((id, i) => ({ id, score: scores[i]! }));
}

function mean(scores: readonly number[]): number {
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}
