import type { Blame, GateDecision, RegressionCheck } from '../../core/gate/gate-decision.ts';
import { toKnowledge, toObservations } from '../../core/gate/gate-evidence.ts';
import { shuffle } from '../../core/random.ts';
import type { RolloutResult } from '../../core/rollout-result.ts';
import type { StepAction } from '../../core/run/step-action.ts';
import { type ItemScore, toEvaluation } from '../../core/score.ts';
import { addObservations, isMissing, MAX_MISSING_SHARE, noEvidence } from '../../core/stats/evidence.ts';
import { judgeWave, settingsFor, type WaveJudgement } from '../../core/stats/gate.ts';
import { addOwn, disputedItems, type Knowledge, knownOf, unmetItems } from '../../core/stats/knowledge.ts';
import { DEFAULT_BATCH_SIZE, planWaves, type RaceSettings, raceOrder } from '../../core/stats/race-settings.ts';
import { whyInvalid } from '../rollout/require-scores.ts';
import { rollAgain } from '../rollout/roll-again.ts';
import { runRollout } from '../rollout/rollout.ts';
import { settleAll } from '../settle-all.ts';
import type { StageDeps } from '../stage-deps.ts';
import { findBlame } from './find-blame.ts';
import type { JudgedCandidate, RaceInput } from './race-input.ts';
import { vetoRegressions } from './veto-regressions.ts';

/** What is on the table: the candidate's passes, and the current skill where it had not been rolled out. */
type Shown = {
  readonly results: readonly RolloutResult[];
  readonly confirmation: readonly RolloutResult[];
  readonly refreshed: readonly ItemScore[];
  readonly blame?: Blame | undefined;
};

const nothingShown: Shown = { results: [], confirmation: [], refreshed: [] };

/**
 * The gate that knows noise: the candidate meets the items in two waves, and is out or taken as soon as the rest is not
 * worth its price; one that stays in doubt is rolled out once more. An item on which the current skill was never rolled
 * out is rolled out under both.
 */
export async function raceSkill(skill: string, input: RaceInput, deps: StageDeps): Promise<JudgedCandidate> {
  const settings = settingsOf(input);
  const order = orderItems(input);
  let shown = nothingShown;
  for (const end of planWaves(order.length, settings)) {
    const wave = order.slice(shown.results.length, end);
    if (!isPaidFor(wave.length + unmetOf(wave, input).length, shown, input)) return stopRace(shown, input);
    shown = await settleDisputes(await rollWave(skill, wave, shown, input, deps), settings, input, deps);
    const judgement = judge(shown, settings, input);
    if (isOver(judgement, shown, input)) return conclude(skill, shown, judgement, input, deps);
  }
  const last = { ...settings, hasSecondPass: false };
  if (isPaidFor(2 * order.length, shown, input)) shown = await rollSecond(skill, order, shown, input, deps);
  shown = await settleDisputes(shown, last, input, deps);
  return conclude(skill, shown, judge(shown, last, input), input, deps);
}

/**
 * With the veto a winner must have met every task: only those can be seen to be lost. So must one of which many rollouts gave
 * no result.
 */
function isOver({ verdict }: WaveJudgement, { results }: Shown, { items, config }: RaceInput): boolean {
  if (verdict !== 'accept') return verdict !== 'continue';
  const isEarly = results.length < items.length;
  return !(isEarly && (config.regressionVeto || whyInvalid(results, shareOf(config)) !== undefined));
}

const shareOf = ({ maxErroredShare = MAX_MISSING_SHARE }: RaceInput['config']) => maxErroredShare;

function settingsOf({ items, state, config }: RaceInput): RaceSettings {
  const { batchSize = DEFAULT_BATCH_SIZE } = config;
  const ids = items.map(({ id }) => id);
  return settingsFor(toKnowledge(state.gate), ids, Math.min(batchSize, state.items.train ?? batchSize));
}

/** A seeded order, then the telling items first. */
function orderItems({ items, state, seed = 0 }: RaceInput): RaceInput['items'] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const knowledge = toKnowledge(state.gate);
  return raceOrder(shuffle([...byId.keys()], seed), (id) => rateOf(knowledge, id)).map((id) => byId.get(id)!);
}

function rateOf(knowledge: Knowledge, id: string): number {
  const { sum, count } = knownOf(knowledge, id);
  return count === 0 ? 0.5 : sum / count;
}

function unmetOf(wave: RaceInput['items'], { state }: RaceInput): RaceInput['items'] {
  const unmet = new Set(
    unmetItems(
      toKnowledge(state.gate),
      wave.map(({ id }) => id),
    ),
  );
  return wave.filter(({ id }) => unmet.has(id));
}

/** Whether so many more rollouts are left to the search. */
function isPaidFor(rollouts: number, shown: Shown, { rolloutsLeft }: RaceInput): boolean {
  return rolloutsLeft === undefined || spentOn(shown) + rollouts <= rolloutsLeft;
}

const spentOn = ({ results, confirmation, refreshed, blame }: Shown) =>
  results.length + confirmation.length + refreshed.length + (blame?.asked ?? 0);
const leftAfter = (shown: Shown, { rolloutsLeft }: RaceInput) =>
  rolloutsLeft === undefined ? undefined : rolloutsLeft - spentOn(shown);
const drawsOf = (id: string, results: readonly RolloutResult[]) => results.filter((result) => result.id === id).length;

/** Both sides at the same time. */
async function rollWave(
  skill: string,
  wave: RaceInput['items'],
  shown: Shown,
  input: RaceInput,
  deps: StageDeps,
): Promise<Shown> {
  const { env, items } = input;
  const current = currentSide(shown, input);
  const [candidate, own] = await settleAll([
    runRollout({ env, skill, items: wave, isPart: true }, deps),
    rollAgain(
      unmetOf(wave, input).map((item) => ({ item, times: 1 })),
      current,
      input,
      deps,
    ),
  ] as const);
  const results = [...shown.results, ...candidate];
  const next = { ...shown, results, refreshed: [...shown.refreshed, ...own] };
  const measured = { skill, results, total: items.length, rolloutsLeft: leftAfter(next, input) };
  return { ...next, blame: await findBlame(measured, input, deps) };
}

/** The current skill, and the next draw of each item under it. */
function currentSide({ refreshed }: Shown, { state }: RaceInput) {
  const drawn = (id: string) => refreshed.filter((score) => score.id === id).length;
  return { skill: state.current.skill, from: (id: string) => (state.gate.draws[id] ?? 0) + drawn(id) };
}

/** Before a winner is taken, the current skill is asked again where they differ and it was asked only once. */
async function settleDisputes(shown: Shown, settings: RaceSettings, input: RaceInput, deps: StageDeps): Promise<Shown> {
  if (judge(shown, settings, input).verdict !== 'accept') return shown;
  const { observed, knowledge } = toEvidences(shown, input);
  const disputed = new Set(disputedItems(knowledge, observed));
  if (!isPaidFor(disputed.size, shown, input)) return shown;
  const wanted = input.items.filter(({ id }) => disputed.has(id)).map((item) => ({ item, times: 1 }));
  const own = await rollAgain(wanted, currentSide(shown, input), input, deps);
  return { ...shown, refreshed: [...shown.refreshed, ...own] };
}

async function rollSecond(
  skill: string,
  order: RaceInput['items'],
  shown: Shown,
  input: RaceInput,
  deps: StageDeps,
): Promise<Shown> {
  const { env } = input;
  const confirmation = await runRollout({ env, skill, items: order, sampleIndex: 1, isPart: true }, deps);
  const next = { ...shown, confirmation };
  const measured = { skill, results: confirmation, total: order.length, rolloutsLeft: leftAfter(next, input) };
  return { ...next, blame: await findBlame(measured, input, deps) };
}

/** Both sides as the statistics see them. */
function toEvidences({ results, confirmation, refreshed }: Shown, { state, config }: RaceInput) {
  const first = toObservations(toEvaluation(results).scores, config);
  const second = toObservations(toEvaluation(confirmation).scores, config);
  const observed = addObservations(noEvidence, [...first, ...second]);
  const knowledge = addOwn(toKnowledge(state.gate), toObservations(refreshed, config));
  return { first, observed, knowledge };
}

function judge(shown: Shown, settings: RaceSettings, input: RaceInput): WaveJudgement {
  const { first, observed, knowledge } = toEvidences(shown, input);
  const met = new Set(first.map(({ id }) => id));
  const missing = [...met].filter((id) => !observed.has(id));
  const remaining = input.items.map(({ id }) => id).filter((id) => !met.has(id));
  const isSecondPass = shown.confirmation.length > 0;
  const share = shareOf(input.config);
  const maxMissingShare = Math.max(share, MAX_MISSING_SHARE);
  const wave = { knowledge, observed, missing, maxMissingShare, remaining, settings, isSecondPass };
  const { needs, ...judged } = judgeWave(wave);
  if (shown.blame) return { ...judged, verdict: 'reject', reason: whyBlamed(shown.blame) };
  const reason = whyInvalid(shown.results, share, input.items.length) ?? whyInvalid(shown.confirmation, share);
  if (reason !== undefined) return { ...judged, verdict: 'invalid', reason };
  return { ...judged, ...(needs ? { needs } : {}) };
}

const whyBlamed = ({ threw, total, reason }: Blame) => `${threw} of ${total} tasks threw: ${reason}`;

/** No rollouts are left for the next wave: what was seen decides nothing. */
function stopRace(shown: Shown, input: RaceInput): JudgedCandidate {
  const judged = judge(shown, { ...settingsOf(input), hasSecondPass: false }, input);
  const { met, total } = { met: shown.results.length, total: input.items.length };
  const reason = `no rollouts are left after ${met} of ${total} items`;
  return toVerdict(shown, { ...judged, verdict: 'inconclusive', reason }, undefined, input);
}

/** A winner may still be stopped by what surely got worse. */
async function conclude(
  skill: string,
  shown: Shown,
  judgement: WaveJudgement,
  input: RaceInput,
  deps: StageDeps,
): Promise<JudgedCandidate> {
  if (judgement.verdict !== 'accept') return toVerdict(shown, judgement, undefined, input);
  const { observed, knowledge } = toEvidences(shown, input);
  const winner = {
    skill,
    observed,
    incumbent: knowledge.own,
    nextDraw: (id: string) => drawsOf(id, shown.results) + drawsOf(id, shown.confirmation),
    rolloutsLeft: leftAfter(shown, input),
    nextIncumbentDraw: currentSide(shown, input).from,
  };
  return toVerdict(shown, judgement, await vetoRegressions(winner, input, deps), input);
}

/** Beating the current skill is beating the best, unless something was taken without a gate: then their scores decide. */
function toVerdict(
  shown: Shown,
  judgement: WaveJudgement,
  veto: RegressionCheck | undefined,
  input: RaceInput,
): JudgedCandidate {
  const { results } = shown;
  const evaluation = toEvaluation(results);
  const decision = toDecision(shown, judgement, veto, input);
  const isPartial = shown.blame !== undefined || decision.verdict === 'invalid' || results.length < input.items.length;
  const scores = [...evaluation.scores, ...(decision.confirmation ?? [])];
  return {
    evaluation,
    score: isPartial ? estimateScore(decision, input) : meanScore(scores, input.config),
    action: actionFor(decision, input),
    results,
    isPartial,
    decision,
    ...(shown.blame ? { blame: shown.blame } : {}),
  };
}

function actionFor({ verdict }: GateDecision, { state }: RaceInput): StepAction {
  if (verdict !== 'accept') return 'reject';
  return state.current.hash === state.best.hash ? 'accept_new_best' : 'accept';
}

function toDecision(
  { confirmation, refreshed }: Shown,
  { verdict, reason, ...figures }: WaveJudgement,
  veto: RegressionCheck | undefined,
  { items }: RaceInput,
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
 * The items met were picked, so that their mean says little; what is expected of the candidate says more. An invalid
 * evaluation says nothing: what the candidate had to beat stands in, as for one that changes nothing.
 */
function estimateScore({ verdict, expectedGain }: GateDecision, { state }: RaceInput): number {
  const { score } = state.current;
  return verdict === 'invalid' ? score : Math.min(1, Math.max(0, score + expectedGain));
}

function meanScore(scores: readonly ItemScore[], config: RaceInput['config']): number {
  const known = toObservations(scores, config).flatMap(({ score }) => (isMissing(score) ? [] : [score]));
  return known.reduce((sum, score) => sum + score, 0) / Math.max(1, known.length);
}
