import type { GateDecision } from '../core/event.ts';
import { toEvidence, toObservations } from '../core/gate-evidence.ts';
import { PythonRandom, shuffle } from '../core/random.ts';
import type { RolloutResult } from '../core/rollout-result.ts';
import { type ItemScore, toEvaluation } from '../core/score.ts';
import { addObservations, isMissing, noEvidence, withinVariance } from '../core/stats/evidence.ts';
import { judgeWave, type WaveJudgement } from '../core/stats/gate.ts';
import { patientSettings, planWaves } from '../core/stats/gate-settings.ts';
import { raceOrder } from '../core/stats/race-order.ts';
import { refreshPlan } from '../core/stats/refresh-plan.ts';
import type { GateInput, Verdict } from './gate-input.ts';
import { requireScores, runRollout } from './rollout.ts';
import type { StageDeps } from './stage-deps.ts';

/** What a candidate has shown: its first pass, item by item, and a second one if it was asked for. */
type Shown = { readonly results: RolloutResult[]; readonly confirmation: RolloutResult[] };

/**
 * The gate that knows noise: the candidate meets the items in waves, and is out as soon as it cannot win or is unlikely
 * to. One that the first pass speaks for is confirmed by a second. Some of the current skill's items are rolled out
 * again, so that its score is an estimate and not a lucky draw.
 */
export async function raceSkill(skill: string, input: GateInput, deps: StageDeps): Promise<Verdict> {
  const { env, items } = input;
  const refreshed = await refreshIncumbent(input, deps);
  const order = orderItems(input);
  const shown: Shown = { results: [], confirmation: [] };
  for (const end of planWaves(order.length, patientSettings(items.length))) {
    shown.results.push(
      ...(await runRollout({ env, skill, items: order.slice(shown.results.length, end), isPart: true }, deps)),
    );
    requireScores(shown.results, deps.maxErroredShare, items.length);
    const judgement = judge(shown, refreshed, input);
    if (judgement.verdict !== 'continue') return toVerdict(shown, judgement, refreshed, input);
  }
  shown.confirmation.push(...(await runRollout({ env, skill, items: order, sampleIndex: 1, isPart: true }, deps)));
  requireScores(shown.confirmation, deps.maxErroredShare);
  return toVerdict(shown, judge(shown, refreshed, input), refreshed, input);
}

/** A seeded order, then the telling items first. */
function orderItems({ items, state, seed = 0 }: GateInput): GateInput['items'] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const shuffled = shuffle([...byId.keys()], seed);
  return raceOrder(shuffled, toEvidence(state.gate.incumbent)).map((id) => byId.get(id)!);
}

/** New draws of the items that the current skill has met least often. */
async function refreshIncumbent({ env, state, items, seed = 0, isRefreshing = false }: GateInput, deps: StageDeps) {
  if (!isRefreshing) return [];
  const { incumbent, draws } = state.gate;
  const ids = refreshPlan({
    items: items.map(({ id }) => id),
    incumbent: toEvidence(incumbent),
    share: patientSettings(items.length).refreshShare,
    draw: new PythonRandom(seed).random(),
  });
  const chosen = items.filter(({ id }) => ids.includes(id));
  const rolled = chosen.map((item) =>
    runRollout(
      { env, skill: state.current.skill, items: [item], sampleIndex: draws[item.id] ?? 0, isPart: true },
      deps,
    ),
  );
  return toEvaluation((await Promise.all(rolled)).flat()).scores;
}

function judge(
  { results, confirmation }: Shown,
  refreshed: readonly ItemScore[],
  { state, config, items }: GateInput,
): WaveJudgement {
  const first = toObservations(toEvaluation(results).scores, config);
  const second = toObservations(toEvaluation(confirmation).scores, config);
  const observed = addObservations(noEvidence, [...first, ...second]);
  const missing = first.map(({ id }) => id).filter((id) => !observed.has(id));
  const met = new Set(first.map(({ id }) => id));
  const remaining = items.map(({ id }) => id).filter((id) => !met.has(id));
  const incumbent = addObservations(toEvidence(state.gate.incumbent), toObservations(refreshed, config));
  const noise = withinVariance(toEvidence(state.gate.seed));
  const settings = patientSettings(items.length);
  return judgeWave({
    incumbent,
    observed,
    missing,
    remaining,
    settings,
    ...(noise === undefined ? {} : { withinVariance: noise }),
  });
}

/** Beating the current skill is beating the best: under this gate they are the same. */
function toVerdict(shown: Shown, judgement: WaveJudgement, refreshed: readonly ItemScore[], input: GateInput): Verdict {
  const { results, confirmation } = shown;
  const { verdict, ...figures } = judgement;
  const evaluation = toEvaluation(results);
  const confirmed = toEvaluation(confirmation).scores;
  const decision: GateDecision = {
    ...figures,
    verdict: verdict === 'continue' ? 'inconclusive' : verdict,
    refreshed,
    ...(confirmed.length > 0 ? { confirmation: confirmed } : {}),
    total: input.items.length,
  };
  return {
    evaluation,
    score: meanScore([...evaluation.scores, ...confirmed], input.config),
    action: verdict === 'accept' ? 'accept_new_best' : 'reject',
    results,
    isPartial: results.length < input.items.length,
    decision,
  };
}

function meanScore(scores: readonly ItemScore[], config: GateInput['config']): number {
  const known = toObservations(scores, config).flatMap(({ score }) => (isMissing(score) ? [] : [score]));
  return known.reduce((sum, score) => sum + score, 0) / Math.max(1, known.length);
}
