import { toObservations } from '../core/gate/gate-evidence.ts';
import type { RunState, ScoredSkill } from '../core/run/run-state.ts';
import { addObservations, noEvidence, pooledMean } from '../core/stats/evidence.ts';
import { scorePasses, settleAll } from '../pipeline/index.ts';
import type { Run } from './run.ts';

/** Draws that neither the search nor the final measurement sees. */
const FINALISTS_FROM = 900_000;
const PASSES = 2;

/**
 * The best and those that were the best before it, measured anew side by side: the highest is the winner. It was chosen by
 * these passes, so that the report takes others.
 */
export async function compareFinalists(state: RunState, run: Run): Promise<RunState> {
  const { config, commit } = run;
  const skills = finalistsOf(state, config.finalists);
  if (skills.length < 2) return state;
  const finalists = await settleAll(skills.map((skill) => measure(skill, run)));
  const winner = finalists.reduce((best, finalist) => (finalist.score > best.score ? finalist : best));
  return commit({ type: 'finalists-end', finalists, hash: winner.hash });
}

/** The latest first: of equals the one that the gate has chosen wins. */
const finalistsOf = ({ best, formerBests }: RunState, count: number): readonly ScoredSkill[] =>
  [best, ...formerBests.toReversed()].slice(0, count);

async function measure({ skill, hash, origin }: ScoredSkill, { env, items, config, deps }: Run) {
  const draws = { from: FINALISTS_FROM, passes: PASSES };
  const passes = await scorePasses({ env, skill, items: items.val }, draws, deps);
  const observations = passes.flatMap(({ evaluation }) => toObservations(evaluation.scores, config));
  return { hash, origin, score: pooledMean(addObservations(noEvidence, observations)) ?? 0 };
}
