import { type ItemScore, type RolloutResult, toEvaluation } from '../../core/contracts/index.ts';
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
  isMissing,
  judgeWave,
  MAX_MISSING_SHARE,
  noEvidence,
  type RaceSettings,
  type WaveJudgement,
} from '../../core/stats/index.ts';
import { whyInvalid } from '../rollout/require-scores.ts';
import type { JudgedCandidate, RaceInput } from './race-input.ts';

/** What is on the table: the candidate's passes, and the current skill where it had not been rolled out. */
export type Shown = {
  readonly results: readonly RolloutResult[];
  readonly confirmation: readonly RolloutResult[];
  readonly refreshed: readonly ItemScore[];
  readonly blame?: Blame | undefined;
};

export const nothingShown: Shown = { results: [], confirmation: [], refreshed: [] };

export const shareOf = ({ maxErroredShare = MAX_MISSING_SHARE }: RaceInput['config']) => maxErroredShare;

/** Both sides as the statistics see them. */
export function toEvidences({ results, confirmation, refreshed }: Shown, { state, config }: RaceInput) {
  const first = toObservations(toEvaluation(results).scores, config);
  const second = toObservations(toEvaluation(confirmation).scores, config);
  const observed = addObservations(noEvidence, [...first, ...second]);
  const knowledge = addOwn(toKnowledge(state.gate), toObservations(refreshed, config));
  return { first, observed, knowledge };
}

export function judge(shown: Shown, settings: RaceSettings, input: RaceInput): WaveJudgement {
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
export function toVerdict(
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
