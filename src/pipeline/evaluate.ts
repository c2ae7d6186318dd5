import type { SkillOptConfig } from '../core/config.ts';
import type { Item, SkillEnv } from '../core/env.ts';
import type { StepAction } from '../core/event.ts';
import { evaluateGate, selectGateScore } from '../core/gate.ts';
import type { RolloutResult } from '../core/rollout-result.ts';
import { type Evaluation, toEvaluation } from '../core/score.ts';
import type { RunState } from '../core/state.ts';
import { runRollout } from './rollout.ts';
import type { StageDeps } from './stage-deps.ts';
import type { Candidate } from './update.ts';

type GateSettings = Pick<SkillOptConfig, 'gateMetric' | 'gateMixedWeight'>;

type EvaluateInput = {
  readonly env: SkillEnv;
  readonly candidate: Candidate;
  readonly state: RunState;
  readonly items: readonly Item[];
  readonly config: GateSettings;
};

export type Verdict = {
  /** What was measured for this candidate; `null` when its text was measured before. */
  readonly evaluation: Evaluation | null;
  readonly score: number;
  readonly action: StepAction;
  readonly results: readonly RolloutResult[];
};

/** ⑥ Gate: the candidate replaces the skill only if it is strictly better on held-out items. */
export async function evaluateCandidate(input: EvaluateInput, deps: StageDeps): Promise<Verdict> {
  const { candidate, state, config } = input;
  if (candidate.candidateHash === state.current.hash) {
    const action = candidate.report.length === 0 ? 'skip_no_patches' : 'unchanged';
    return { evaluation: null, score: state.current.score, action, results: [] };
  }
  const known = state.evaluations[candidate.candidateHash];
  const { evaluation, results } = known
    ? { evaluation: known, results: [] }
    : await scoreSkill(toScoreInput(input), deps);
  const score = gateScore(evaluation, config);
  return { evaluation: known ? null : (evaluation as Evaluation), score, results, action: decide(input, evaluation) };
}

const toScoreInput = ({ env, candidate, items }: EvaluateInput) => ({ env, skill: candidate.candidateSkill, items });

function decide(
  { candidate, state, config }: EvaluateInput,
  { hard, soft }: Pick<Evaluation, 'hard' | 'soft'>,
): StepAction {
  return evaluateGate({
    candidateSkill: candidate.candidateSkill,
    candHard: hard,
    candSoft: soft,
    currentSkill: state.current.skill,
    currentScore: state.current.score,
    bestSkill: state.best.skill,
    bestScore: state.best.score,
    bestStep: state.best.step,
    globalStep: state.stepsDone + 1,
    metric: config.gateMetric,
    mixedWeight: config.gateMixedWeight,
  }).action;
}

export function gateScore({ hard, soft }: Pick<Evaluation, 'hard' | 'soft'>, config: GateSettings): number {
  return selectGateScore(hard, soft, config.gateMetric, config.gateMixedWeight);
}

/** One pass of a skill over items: its scores, and the results they came from. */
export async function scoreSkill<I extends Item>(
  input: { readonly env: SkillEnv<I>; readonly skill: string; readonly items: readonly I[] },
  deps: StageDeps,
): Promise<{ evaluation: Evaluation; results: RolloutResult[] }> {
  const results = await runRollout(input, deps);
  return { evaluation: toEvaluation(results), results };
}
