import type { GateDecision, RegressionCheck } from '../core/gate-decision.ts';
import { toEvidence, toObservations } from '../core/gate-evidence.ts';
import { shuffle } from '../core/random.ts';
import type { RolloutResult } from '../core/rollout-result.ts';
import { type ItemScore, toEvaluation } from '../core/score.ts';
import { addObservations, isMissing, noEvidence, withinVariance } from '../core/stats/evidence.ts';
import { judgeWave, type WaveJudgement } from '../core/stats/gate.ts';
import { planWaves, settingsFor } from '../core/stats/gate-settings.ts';
import { raceOrder } from '../core/stats/race-order.ts';
import type { StepAction } from '../core/step-action.ts';
import type { GateInput, Verdict } from './gate-input.ts';
import { refreshIncumbent } from './refresh-incumbent.ts';
import { requireReachable, whyInvalid } from './require-scores.ts';
import { runRollout } from './rollout.ts';
import type { StageDeps } from './stage-deps.ts';
import { vetoRegressions } from './veto-regressions.ts';

/** What is on the table: the candidate's first pass, a second one if it was asked for, and the current skill's new draws. */
type Shown = {
  readonly results: RolloutResult[];
  readonly confirmation: RolloutResult[];
  readonly refreshed: readonly ItemScore[];
};

/**
 * The gate that knows noise: the candidate meets the items in waves, and is out as soon as it cannot win or is unlikely
 * to. Where proposals are scarce, one that the first pass speaks for is confirmed by a second. Some of the current
 * skill's items are rolled out again, so that its score is an estimate and not a lucky draw.
 */
export async function raceSkill(skill: string, input: GateInput, deps: StageDeps): Promise<Verdict> {
  const { env, items } = input;
  const settings = settingsOf(input);
  const refreshed = await refreshIncumbent(input, settings.refreshShare, deps);
  const order = orderItems(input);
  const shown: Shown = { results: [], confirmation: [], refreshed };
  for (const end of planWaves(order.length, settings)) {
    const wave = order.slice(shown.results.length, end);
    shown.results.push(...(await runRollout({ env, skill, items: wave, isPart: true }, deps)));
    requireReachable(shown.results, deps.maxErroredShare, items.length);
    const judgement = judge(shown, input);
    if (judgement.verdict !== 'continue') return conclude(skill, shown, judgement, input, deps);
  }
  shown.confirmation.push(...(await runRollout({ env, skill, items: order, sampleIndex: 1, isPart: true }, deps)));
  requireReachable(shown.confirmation, deps.maxErroredShare);
  return conclude(skill, shown, judge(shown, input), input, deps);
}

/** One proposal of many may be dropped early; a single one deserves patience. */
const settingsOf = ({ items, config }: GateInput) => settingsFor(items.length, config.proposalsPerBatch ?? 1);

/** A seeded order, then the telling items first. */
function orderItems({ items, state, seed = 0 }: GateInput): GateInput['items'] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const shuffled = shuffle([...byId.keys()], seed);
  return raceOrder(shuffled, toEvidence(state.gate.incumbent)).map((id) => byId.get(id)!);
}

/** Both sides as the statistics see them. */
function toEvidences({ results, confirmation, refreshed }: Shown, { state, config }: GateInput) {
  const first = toObservations(toEvaluation(results).scores, config);
  const second = toObservations(toEvaluation(confirmation).scores, config);
  const observed = addObservations(noEvidence, [...first, ...second]);
  const incumbent = addObservations(toEvidence(state.gate.incumbent), toObservations(refreshed, config));
  return { first, observed, incumbent };
}

function judge(shown: Shown, input: GateInput): WaveJudgement {
  const { first, observed, incumbent } = toEvidences(shown, input);
  const missing = first.map(({ id }) => id).filter((id) => !observed.has(id));
  const met = new Set(first.map(({ id }) => id));
  const remaining = input.items.map(({ id }) => id).filter((id) => !met.has(id));
  const noise = withinVariance(toEvidence(input.state.gate.seed));
  const { needs, ...judged } = judgeWave({
    incumbent,
    observed,
    missing,
    remaining,
    settings: settingsOf(input),
    ...(noise === undefined ? {} : { withinVariance: noise }),
  });
  const reason = whyInvalid(shown.results, input.items.length) ?? whyInvalid(shown.confirmation);
  if (reason !== undefined) return { ...judged, verdict: 'invalid', reason };
  return { ...judged, ...(needs ? { needs } : {}) };
}

/** A winner may still be stopped by what surely got worse. */
async function conclude(
  skill: string,
  shown: Shown,
  judgement: WaveJudgement,
  input: GateInput,
  deps: StageDeps,
): Promise<Verdict> {
  if (judgement.verdict !== 'accept') return toVerdict(shown, judgement, undefined, input);
  const { draws } = input.state.gate;
  const refreshed = new Set(shown.refreshed.map(({ id }) => id));
  const winner = {
    skill,
    ...toEvidences(shown, input),
    nextDraw: shown.confirmation.length > 0 ? 2 : 1,
    nextIncumbentDraw: (id: string) => (draws[id] ?? 0) + Number(refreshed.has(id)),
  };
  return toVerdict(shown, judgement, await vetoRegressions(winner, input, deps), input);
}

/** Beating the current skill is beating the best, unless something was taken without a gate: then their scores decide. */
function toVerdict(
  shown: Shown,
  judgement: WaveJudgement,
  veto: RegressionCheck | undefined,
  input: GateInput,
): Verdict {
  const { results } = shown;
  const evaluation = toEvaluation(results);
  const decision = toDecision(shown, judgement, veto, input);
  const isPartial = decision.verdict === 'invalid' || results.length < input.items.length;
  const scores = [...evaluation.scores, ...(decision.confirmation ?? [])];
  return {
    evaluation,
    score: isPartial ? estimateScore(decision, input) : meanScore(scores, input.config),
    action: actionFor(decision, input),
    results,
    isPartial,
    decision,
  };
}

function actionFor({ verdict }: GateDecision, { state }: GateInput): StepAction {
  if (verdict !== 'accept') return 'reject';
  return state.current.hash === state.best.hash ? 'accept_new_best' : 'accept';
}

function toDecision(
  { confirmation, refreshed }: Shown,
  { verdict, reason, ...figures }: WaveJudgement,
  veto: RegressionCheck | undefined,
  { items }: GateInput,
): GateDecision {
  const confirmed = toEvaluation(confirmation).scores;
  return {
    ...figures,
    verdict: verdict === 'continue' ? 'inconclusive' : veto?.isVetoed ? 'reject' : verdict,
    reason: veto?.isVetoed ? veto.reason : reason,
    refreshed,
    ...(confirmed.length > 0 ? { confirmation: confirmed } : {}),
    ...(veto ? { veto } : {}),
    total: items.length,
  };
}

/**
 * The items met were picked, so that their mean says little; what they gained against the current skill says more. An
 * invalid evaluation says nothing: what the candidate had to beat stands in, as for one that changes nothing.
 */
function estimateScore({ verdict, meanGain }: GateDecision, { state }: GateInput): number {
  const { score } = state.current;
  return verdict === 'invalid' ? score : Math.min(1, Math.max(0, score + meanGain));
}

function meanScore(scores: readonly ItemScore[], config: GateInput['config']): number {
  const known = toObservations(scores, config).flatMap(({ score }) => (isMissing(score) ? [] : [score]));
  return known.reduce((sum, score) => sum + score, 0) / Math.max(1, known.length);
}
