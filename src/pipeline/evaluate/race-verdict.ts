import { type ItemScore, type RolloutResult, toEvaluation } from '../../core/contracts/index.ts';
import {
  type Blame,
  type GateDecision,
  type RegressionCheck,
  type StepAction,
  toKnowledge,
  toObservations,
  type WaveVerdict,
} from '../../core/run/index.ts';
import {
  addObservations,
  addOwn,
  isMissing,
  judgeWave,
  MAX_MISSING_SHARE,
  noEvidence,
  type RaceSettings,
  type Veto,
  type WaveJudgement,
} from '../../core/stats/index.ts';
import { defined } from '../../core/text/index.ts';
import { whyInvalid } from '../rollout/require-scores.ts';
import type { JudgedCandidate, RaceInput } from './race-input.ts';

/** What was rolled out so far: the candidate's passes, and the current skill where it had not been rolled out. */
export type RaceResults = {
  readonly results: readonly RolloutResult[];
  readonly confirmation: readonly RolloutResult[];
  readonly refreshed: readonly RolloutResult[];
  readonly blame?: Blame | undefined;
  /** The judgements so far. */
  readonly waves: readonly WaveVerdict[];
};

export type JudgedRace = { readonly shown: RaceResults; readonly judgement: WaveJudgement };

/** A winner that was asked about items once more, and the current skill about the same. */
export type AskedAgain = {
  readonly veto: Veto;
  readonly incumbent: readonly RolloutResult[];
  readonly candidate: readonly RolloutResult[];
};

export const shareOf = ({ maxErroredShare = MAX_MISSING_SHARE }: RaceInput['config']) => maxErroredShare;

export const scoresIn = (results: readonly RolloutResult[]) => toEvaluation(results).scores;

/** Both sides as the statistics see them. */
export function toEvidences({ results, confirmation, refreshed }: RaceResults, { state, config }: RaceInput) {
  const first = toObservations(scoresIn(results), config);
  const second = toObservations(scoresIn(confirmation), config);
  const observed = addObservations(noEvidence, [...first, ...second]);
  const knowledge = addOwn(toKnowledge(state.gate), toObservations(scoresIn(refreshed), config));
  return { first, observed, knowledge };
}

export type HowToJudge = { readonly settings: RaceSettings; readonly isLast?: boolean };

export function judge(shown: RaceResults, how: HowToJudge, input: RaceInput): WaveJudgement {
  const { first, observed, knowledge } = toEvidences(shown, input);
  const met = new Set(first.map(({ id }) => id));
  const missing = [...met].filter((id) => !observed.has(id));
  const remaining = input.items.map(({ id }) => id).filter((id) => !met.has(id));
  const isSecondPass = shown.confirmation.length > 0;
  const share = shareOf(input.config);
  const maxMissingShare = Math.max(share, MAX_MISSING_SHARE);
  const { isShorter = false } = input;
  const wave = { knowledge, observed, missing, maxMissingShare, remaining, isSecondPass, isShorter, ...how };
  const { needs, ...judged } = judgeWave(wave);
  if (shown.blame) {
    const { threw, total, reason } = shown.blame;
    return { ...judged, verdict: 'reject', reason: `${threw} of ${total} tasks threw: ${reason}` };
  }
  const reason = whyInvalid(shown.results, share, input.items.length) ?? whyInvalid(shown.confirmation, share);
  if (reason !== undefined) return { ...judged, verdict: 'invalid', reason };
  return { ...judged, ...defined({ needs }) };
}

export function toVerdict(judged: JudgedRace, asked: AskedAgain | undefined, input: RaceInput): JudgedCandidate {
  const { results, confirmation, refreshed, blame } = judged.shown;
  const evaluation = toEvaluation(results);
  const decision = toDecision(judged, asked && toCheck(asked), input);
  const { incumbent = [], candidate = [] } = asked ?? {};
  const further = { second_pass: confirmation, asked_again: candidate, current: [...refreshed, ...incumbent] };
  const isPartial = blame !== undefined || decision.verdict === 'invalid' || results.length < input.items.length;
  const scores = [...evaluation.scores, ...(decision.confirmation ?? [])];
  return {
    evaluation,
    score: isPartial ? estimateScore(decision, input) : meanScore(scores, input.config),
    action: actionFor(decision, input),
    ...{ results, further, isPartial, decision, ...defined({ blame }) },
  };
}

const toCheck = ({ veto, incumbent, candidate }: AskedAgain): RegressionCheck => {
  return { ...veto, incumbent: scoresIn(incumbent), candidate: scoresIn(candidate) };
};

/** Beating the current skill is beating the best, unless something was taken without a gate: then their scores decide. */
function actionFor({ verdict }: GateDecision, { state }: RaceInput): StepAction {
  if (verdict !== 'accept') return 'reject';
  return state.current.hash === state.best.hash ? 'accept_new_best' : 'accept';
}

function toDecision(
  { shown, judgement: { verdict, reason, ...figures } }: JudgedRace,
  veto: RegressionCheck | undefined,
  { items }: RaceInput,
): GateDecision {
  const confirmed = scoresIn(shown.confirmation);
  return {
    ...figures,
    verdict: verdict === 'continue' ? 'inconclusive' : veto?.isVetoed ? 'reject' : verdict,
    reason: veto?.isVetoed ? veto.reason : reason,
    refreshed: scoresIn(shown.refreshed),
    ...(confirmed.length > 0 ? { confirmation: confirmed } : {}),
    ...(veto ? { veto } : {}),
    total: items.length,
    waves: shown.waves,
  };
}

/** The items met were picked, so their mean says little; the expected gain says more. An invalid evaluation says nothing. */
function estimateScore({ verdict, expectedGain }: GateDecision, { state }: RaceInput): number {
  const { score } = state.current;
  return verdict === 'invalid' ? score : Math.min(1, Math.max(0, score + expectedGain));
}

function meanScore(scores: readonly ItemScore[], config: RaceInput['config']): number {
  const known = toObservations(scores, config).flatMap(({ score }) => (isMissing(score) ? [] : [score]));
  return known.reduce((sum, score) => sum + score, 0) / Math.max(1, known.length);
}
