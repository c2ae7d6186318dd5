import { toObservations } from '../core/gate/gate-evidence.ts';
import type { RunState, ScoredSkill } from '../core/run/run-state.ts';
import { addObservations, noEvidence, pooledMean } from '../core/stats/evidence.ts';
import { type StageDeps, scorePasses } from '../pipeline/index.ts';
import type { TrainInput } from './setup/train-input.ts';

/** Draws that neither the search nor the final measurement sees. */
const FINALISTS_FROM = 900_000;
const PASSES = 2;

/**
 * The best and those that were the best before it, measured anew side by side: the highest is the winner. It was chosen by
 * these passes, so that the report takes others.
 */
export async function compareFinalists(input: TrainInput, deps: StageDeps): Promise<RunState> {
  const { state, config, commit } = input;
  const skills = finalistsOf(state, config.finalists);
  if (skills.length < 2) return state;
  const measuring = skills.map((skill) => measure(skill, input, deps));
  await Promise.allSettled(measuring); // replies that are on their way get kept, whatever happened to others
  const finalists = await Promise.all(measuring);
  const winner = finalists.reduce((best, finalist) => (finalist.score > best.score ? finalist : best));
  return commit({ type: 'finalists-end', finalists, hash: winner.hash });
}

/** The latest first: of equals the one that the gate has chosen wins. */
const finalistsOf = ({ best, formerBests }: RunState, count: number): readonly ScoredSkill[] =>
  [best, ...formerBests.toReversed()].slice(0, count);

async function measure({ skill, hash, origin }: ScoredSkill, { env, items, config }: TrainInput, deps: StageDeps) {
  const draws = { from: FINALISTS_FROM, passes: PASSES };
  const passes = await scorePasses({ env, skill, items: items.val }, draws, deps);
  const observations = passes.flatMap(({ evaluation }) => toObservations(evaluation.scores, config));
  return { hash, origin, score: pooledMean(addObservations(noEvidence, observations)) ?? 0 };
}
