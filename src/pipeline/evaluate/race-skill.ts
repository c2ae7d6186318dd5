import { type Item, type ItemScore, type RolloutResult, shuffle, toEvaluation } from '../../core/contracts/index.ts';
import {
  type Blame,
  type GateDecision,
  type RegressionCheck,
  type StepAction,
  toKnowledge,
  toObservations,
} from '../../core/run/index.ts';
import {
  addObservations,
  addOwn,
  DEFAULT_BATCH_SIZE,
  disputedItems,
  isMissing,
  judgeWave,
  knownOf,
  MAX_MISSING_SHARE,
  noEvidence,
  planWaves,
  type RaceSettings,
  raceOrder,
  settingsFor,
  unmetItems,
  type WaveJudgement,
} from '../../core/stats/index.ts';
import { whyInvalid } from '../rollout/require-scores.ts';
import { runRollout } from '../rollout/rollout.ts';
import { type StageDeps, settleAll } from '../stage-deps.ts';
import { findBlame, type JudgedCandidate, type RaceInput } from './race-input.ts';
import { rollAgain, vetoRegressions } from './veto-regressions.ts';

/** The candidate, and what it is raced with. */
type Race = { readonly skill: string; readonly input: RaceInput; readonly deps: StageDeps };

/** What was rolled out so far: the candidate's passes, and the current skill where it had not been rolled out. */
type RaceResults = {
  readonly results: readonly RolloutResult[];
  readonly confirmation: readonly RolloutResult[];
  readonly refreshed: readonly ItemScore[];
  readonly blame?: Blame | undefined;
};

/**
 * The gate that knows noise: the candidate meets the items in two waves, and is out or taken as soon as the rest is not
 * worth its price; one that stays in doubt is rolled out once more. An item on which the current skill was never rolled
 * out is rolled out under both.
 */
export async function raceSkill(skill: string, input: RaceInput, deps: StageDeps): Promise<JudgedCandidate> {
  const race = { skill, input, deps };
  const settings = settingsOf(input);
  const order = orderItems(input);
  let shown: RaceResults = { results: [], confirmation: [], refreshed: [] };
  for (const end of planWaves(order.length, settings)) {
    const wave = order.slice(shown.results.length, end);
    if (!isPaidFor(wave.length + unmetOf(wave, input).length, shown, input)) return stopRace(shown, input);
    shown = await settleDisputes(await rollWave(wave, shown, race), settings, race);
    const judgement = judge(shown, settings, input);
    if (isOver(judgement, shown, input)) return conclude(shown, judgement, race);
  }
  const last = { ...settings, hasSecondPass: false };
  if (isPaidFor(2 * order.length, shown, input)) shown = await rollSecond(order, shown, race);
  shown = await settleDisputes(shown, last, race);
  return conclude(shown, judge(shown, last, input), race);
}

/**
 * With the veto a winner must have met every task: only those can be seen to be lost. So must one of which many rollouts gave
 * no result.
 */
function isOver({ verdict }: WaveJudgement, { results }: RaceResults, { items, config }: RaceInput): boolean {
  if (verdict !== 'accept') return verdict !== 'continue';
  const isEarly = results.length < items.length;
  return !(isEarly && (config.regressionVeto || whyInvalid(results, shareOf(config)) !== undefined));
}

function settingsOf({ items, state, config }: RaceInput): RaceSettings {
  const { batchSize = DEFAULT_BATCH_SIZE } = config;
  const ids = items.map(({ id }) => id);
  return settingsFor(toKnowledge(state.gate), ids, Math.min(batchSize, state.items.train ?? batchSize));
}

/** A seeded order, then the telling items first. */
function orderItems({ items, state, seed = 0 }: RaceInput): Item[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const knowledge = toKnowledge(state.gate);
  const rateOf = (id: string) => {
    const { sum, count } = knownOf(knowledge, id);
    return count === 0 ? 0.5 : sum / count;
  };
  return raceOrder(shuffle([...byId.keys()], seed), rateOf).map((id) => byId.get(id)!);
}

function unmetOf(wave: readonly Item[], { state }: RaceInput): Item[] {
  const ids = wave.map(({ id }) => id);
  const unmet = new Set(unmetItems(toKnowledge(state.gate), ids));
  return wave.filter(({ id }) => unmet.has(id));
}

/** Whether the search may still make so many rollouts. */
function isPaidFor(rollouts: number, shown: RaceResults, input: RaceInput): boolean {
  const left = leftAfter(shown, input);
  return left === undefined || rollouts <= left;
}

function leftAfter({ results, confirmation, refreshed, blame }: RaceResults, { rolloutsLeft }: RaceInput) {
  const spent = results.length + confirmation.length + refreshed.length + (blame?.asked ?? 0);
  return rolloutsLeft === undefined ? undefined : rolloutsLeft - spent;
}

/** Both sides at the same time. */
async function rollWave(wave: readonly Item[], shown: RaceResults, race: Race): Promise<RaceResults> {
  const { skill, input, deps } = race;
  const [candidate, own] = await settleAll([
    runRollout({ env: input.env, skill, items: wave, isPart: true }, deps),
    rollCurrent(unmetOf(wave, input), shown, race),
  ] as const);
  const results = [...shown.results, ...candidate];
  return withBlame({ ...shown, results, refreshed: [...shown.refreshed, ...own] }, results, race);
}

async function withBlame(shown: RaceResults, results: readonly RolloutResult[], { skill, input, deps }: Race) {
  const measured = { skill, results, total: input.items.length, rolloutsLeft: leftAfter(shown, input) };
  return { ...shown, blame: await findBlame(measured, input, deps) };
}

/** The current skill once more on these items. */
const rollCurrent = (items: readonly Item[], shown: RaceResults, { input, deps }: Race) =>
  rollAgain(
    items.map((item) => ({ item, times: 1 })),
    { skill: input.state.current.skill, from: nextCurrentDraw(shown, input) },
    input,
    deps,
  );

/** The next draw of each item under the current skill. */
function nextCurrentDraw({ refreshed }: RaceResults, { state }: RaceInput) {
  return (id: string) => (state.gate.draws[id] ?? 0) + countOf(id, refreshed);
}

const countOf = (id: string, drawn: readonly { readonly id: string }[]) => drawn.filter((one) => one.id === id).length;

/** Before a winner is taken, the current skill is asked again where they differ and it was asked only once. */
async function settleDisputes(shown: RaceResults, settings: RaceSettings, race: Race): Promise<RaceResults> {
  const { input } = race;
  if (judge(shown, settings, input).verdict !== 'accept') return shown;
  const { observed, knowledge } = toEvidences(shown, input);
  const disputed = new Set(disputedItems(knowledge, observed));
  if (!isPaidFor(disputed.size, shown, input)) return shown;
  const asked = input.items.filter(({ id }) => disputed.has(id));
  const own = await rollCurrent(asked, shown, race);
  return { ...shown, refreshed: [...shown.refreshed, ...own] };
}

async function rollSecond(order: readonly Item[], shown: RaceResults, race: Race): Promise<RaceResults> {
  const { skill, input, deps } = race;
  const confirmation = await runRollout({ env: input.env, skill, items: order, sampleIndex: 1, isPart: true }, deps);
  return withBlame({ ...shown, confirmation }, confirmation, race);
}

/** No rollouts are left for the next wave: what was seen decides nothing. */
function stopRace(shown: RaceResults, input: RaceInput): JudgedCandidate {
  const judged = judge(shown, { ...settingsOf(input), hasSecondPass: false }, input);
  const reason = `no rollouts are left after ${shown.results.length} of ${input.items.length} items`;
  return toVerdict(shown, { ...judged, verdict: 'inconclusive', reason }, undefined, input);
}

/** A winner may still be stopped by what surely got worse. */
async function conclude(shown: RaceResults, judgement: WaveJudgement, race: Race): Promise<JudgedCandidate> {
  const { skill, input, deps } = race;
  if (judgement.verdict !== 'accept') return toVerdict(shown, judgement, undefined, input);
  const { observed, knowledge } = toEvidences(shown, input);
  const winner = {
    skill,
    observed,
    incumbent: knowledge.own,
    nextDraw: (id: string) => countOf(id, shown.results) + countOf(id, shown.confirmation),
    rolloutsLeft: leftAfter(shown, input),
    nextIncumbentDraw: nextCurrentDraw(shown, input),
  };
  return toVerdict(shown, judgement, await vetoRegressions(winner, input, deps), input);
}

const shareOf = ({ maxErroredShare = MAX_MISSING_SHARE }: RaceInput['config']) => maxErroredShare;

/** Both sides as the statistics see them. */
function toEvidences({ results, confirmation, refreshed }: RaceResults, { state, config }: RaceInput) {
  const first = toObservations(toEvaluation(results).scores, config);
  const second = toObservations(toEvaluation(confirmation).scores, config);
  const observed = addObservations(noEvidence, [...first, ...second]);
  const knowledge = addOwn(toKnowledge(state.gate), toObservations(refreshed, config));
  return { first, observed, knowledge };
}

function judge(shown: RaceResults, settings: RaceSettings, input: RaceInput): WaveJudgement {
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

/** Beating the current skill is beating the best, unless something was taken without a gate: then their scores decide. */
function toVerdict(
  shown: RaceResults,
  judgement: WaveJudgement,
  veto: RegressionCheck | undefined,
  input: RaceInput,
): JudgedCandidate {
  const { results, blame } = shown;
  const evaluation = toEvaluation(results);
  const decision = toDecision(shown, judgement, veto, input);
  const isPartial = blame !== undefined || decision.verdict === 'invalid' || results.length < input.items.length;
  const scores = [...evaluation.scores, ...(decision.confirmation ?? [])];
  return {
    evaluation,
    score: isPartial ? estimateScore(decision, input) : meanScore(scores, input.config),
    action: actionFor(decision, input),
    results,
    isPartial,
    decision,
    ...(blame ? { blame } : {}),
  };
}

function actionFor({ verdict }: GateDecision, { state }: RaceInput): StepAction {
  if (verdict !== 'accept') return 'reject';
  return state.current.hash === state.best.hash ? 'accept_new_best' : 'accept';
}

function toDecision(
  { confirmation, refreshed }: RaceResults,
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
