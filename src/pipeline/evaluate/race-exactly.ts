import { type Evaluation, type RolloutResult, selectGateScore, toEvaluation } from '../../core/contracts/index.ts';
import { type Blame, toEvidence, toObservations } from '../../core/run/index.ts';
import { exactRace, hardestFirst, startable } from '../../core/stats/index.ts';
import { whyInvalid } from '../rollout/require-scores.ts';
import { runRollout } from '../rollout/rollout.ts';
import type { StageDeps } from '../stage-deps.ts';
import { findBlame } from './find-blame.ts';
import type { RaceInput } from './race-input.ts';

type Race = {
  readonly evaluation: Evaluation;
  readonly results: RolloutResult[];
  readonly isPartial: boolean;
  /** Of a partial pass: the most that a whole one could have given. */
  readonly score: number;
  readonly blame?: Blame | undefined;
};

/** Not the number of workers: how many items a loser has met is part of the record, which no worker may change. */
const MOST_AT_ONCE = 8;

/** The strict gate, stopped as soon as it is certain that the candidate loses. Hardest items first: they decide early. */
export async function raceExactly(skill: string, input: RaceInput, deps: StageDeps): Promise<Race> {
  const { env, config } = input;
  const items = hardestItems(input);
  const results: RolloutResult[] = [];
  while (results.length < items.length) {
    const race = standing(results, input);
    const isLost = exactRace({ ...race, remaining: items.length - results.length }).state === 'cannot-win';
    if (isLost) return { ...inOrder(results, input), isPartial: true, score: mostReachable(results, input) };
    const count = startable({ ...race, inFlight: 0, waiting: items.length - results.length, limit: MOST_AT_ONCE });
    const wave = items.slice(results.length, results.length + count);
    results.push(...(await runRollout({ env, skill, items: wave, isPart: true }, deps)));
    const blame = await findBlame({ skill, results, ...roomFor(results, input) }, input, deps);
    if (blame) return { ...inOrder(results, input), isPartial: true, score: mostReachable(results, input), blame };
    if (whyInvalid(results, deps.maxErroredShare, items.length)) break; // whatever the rest would give
  }
  const whole = inOrder(results, input);
  const { hard, soft } = whole.evaluation;
  return { ...whole, isPartial: false, score: selectGateScore(hard, soft, config.gateMetric, config.gateMixedWeight) };
}

function roomFor({ length }: readonly RolloutResult[], { items, rolloutsLeft }: RaceInput) {
  return { total: items.length, rolloutsLeft: rolloutsLeft === undefined ? undefined : rolloutsLeft - length };
}

function mostReachable(results: readonly RolloutResult[], input: RaceInput): number {
  return exactRace({ ...standing(results, input), remaining: input.items.length - results.length }).upperBound;
}

function standing(results: readonly RolloutResult[], { state, config }: RaceInput) {
  return {
    bar: Math.min(state.current.score, state.best.score), // beating either is accepted
    finished: toObservations(toEvaluation(results).scores, config).map(({ score }) => score),
    isPlainMean: config.gateMetric !== 'mixed',
  };
}

function hardestItems({ items, state }: RaceInput): RaceInput['items'] {
  const byId = new Map(items.map((item) => [item.id, item]));
  return hardestFirst([...byId.keys()], toEvidence(state.gate.own)).map((id) => byId.get(id)!);
}

/** As a whole pass would give them: sums of floats depend on their order, and so would a tie. */
function inOrder(results: readonly RolloutResult[], { items }: RaceInput) {
  const byId = new Map(results.map((result) => [result.id, result]));
  const ordered = items.flatMap(({ id }) => byId.get(id) ?? []);
  return { evaluation: toEvaluation(ordered), results: ordered };
}
