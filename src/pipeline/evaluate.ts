import type { SkillOptConfig } from '../core/config.ts';
import type { Item, SkillEnv } from '../core/env.ts';
import type { StepAction } from '../core/event.ts';
import { evaluateGate, selectGateScore } from '../core/gate.ts';
import type { RolloutResult } from '../core/rollout-result.ts';
import type { RunState } from '../core/run-state.ts';
import { type Evaluation, toEvaluation } from '../core/score.ts';
import { runRollout } from './rollout.ts';
import type { StageDeps } from './stage-deps.ts';
import type { Candidate } from './update.ts';

export type GateSettings = Pick<SkillOptConfig, 'gateMetric' | 'gateMixedWeight' | 'useGate'>;

/** Where candidates are measured, and what they must beat. */
export type GateInput = {
  readonly env: SkillEnv;
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
export async function evaluateCandidate(
  input: GateInput & { readonly candidate: Candidate },
  deps: StageDeps,
): Promise<Verdict> {
  const { candidate, state } = input;
  if (candidate.candidateHash !== state.current.hash) return judgeSkill(candidate, input, deps);
  return { evaluation: null, score: state.current.score, action: whyUnchanged(candidate), results: [] };
}

function whyUnchanged({ report }: Candidate): StepAction {
  if (report.length === 0) return 'skip_no_patches';
  return report.every(({ status }) => status === 'skipped_no_rewrite') ? 'skip_no_rewrite' : 'unchanged';
}

type Text = Pick<Candidate, 'candidateSkill' | 'candidateHash'>;

/** A document before the gate. What was measured before is not measured again. */
export async function judgeSkill(text: Text, input: GateInput, deps: StageDeps): Promise<Verdict> {
  const { env, state, items, config } = input;
  const known = state.evaluations[text.candidateHash];
  const { evaluation, results } = known
    ? { evaluation: known, results: [] }
    : await scoreSkill({ env, skill: text.candidateSkill, items }, deps);
  const score = gateScore(evaluation, config);
  return {
    evaluation: known ? null : (evaluation as Evaluation),
    score,
    results,
    action: decide(text, evaluation, input),
  };
}

function decide(
  text: Text,
  { hard, soft }: Pick<Evaluation, 'hard' | 'soft'>,
  { state, config }: GateInput,
): StepAction {
  if (!config.useGate) return 'force_accept';
  return evaluateGate({
    candidateSkill: text.candidateSkill,
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

export function gateScore(
  { hard, soft }: Pick<Evaluation, 'hard' | 'soft'>,
  config: Pick<GateSettings, 'gateMetric' | 'gateMixedWeight'>,
): number {
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
