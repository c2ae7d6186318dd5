import { type Evaluation, evaluateGate, selectGateScore, toEvaluation } from '../../core/contracts/index.ts';
import { passOf, type StepAction, toObservations } from '../../core/run/index.ts';
import { exactRace } from '../../core/stats/index.ts';
import type { Candidate } from '../update/update.ts';
import type { GateConfig, JudgedCandidate, RaceInput } from './race-input.ts';
import { type JudgedRace, type RaceResults, scoresIn, whyTooFew } from './race-verdict.ts';
import { inOrderOf } from './rules.ts';

export type CandidateText = Pick<Candidate, 'candidateSkill' | 'candidateHash'>;

/** A text that was measured before is not measured again. */
export function judgeKnown(text: CandidateText, input: RaceInput): JudgedCandidate | undefined {
  const known = passOf(input.state, text.candidateHash);
  if (!known) return undefined;
  return { evaluation: null, score: gateScore(known, input.config), results: [], action: actionBy(known, text, input) };
}

/** For a gate that compares one number. A partial pass has lost: its score is the most that it could have reached. */
export function toPassVerdict(
  { shown, judgement }: JudgedRace,
  text: CandidateText,
  input: RaceInput,
): JudgedCandidate {
  const { items, config } = input;
  const { attempts, blame } = shown;
  const ids = items.map(({ id }) => id);
  const results = inOrderOf(ids, attempts);
  const evaluation = toEvaluation(results);
  const invalidReason = whyTooFew(shown, input);
  if (invalidReason !== undefined) return turnDown({ evaluation, results, invalidReason }, input);
  const isPartial = results.length < items.length || blame !== undefined;
  const isExact = config.racing === 'exact' && config.useGate;
  const score = isPartial && isExact ? mostOf(shown, input) : gateScore(evaluation, config);
  const action = judgement.verdict === 'accept' ? actionBy(evaluation, text, input) : ('reject' as const);
  return { evaluation, score, results, action, ...(isPartial ? { isPartial } : {}), ...(blame ? { blame } : {}) };
}

function mostOf({ attempts }: RaceResults, { items, config }: RaceInput): number {
  const finished = toObservations(scoresIn(attempts), config).map(({ score }) => score);
  return exactRace({ bar: 0, finished, remaining: items.length - attempts.length }).upperBound;
}

/** An invalid evaluation has no score: the candidate gets the score that it had to beat. */
export function turnDown(
  unmeasured: Pick<JudgedCandidate, 'evaluation' | 'results' | 'invalidReason'>,
  { state }: RaceInput,
) {
  return { ...unmeasured, score: state.current.score, action: 'reject' as const, isPartial: true };
}

type PassScore = Pick<Evaluation, 'hard' | 'soft'>;

function actionBy({ hard, soft }: PassScore, text: CandidateText, { state, config }: RaceInput): StepAction {
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

export const gateScore = (
  { hard, soft }: PassScore,
  { gateMetric, gateMixedWeight }: Pick<GateConfig, 'gateMetric' | 'gateMixedWeight'>,
) => selectGateScore(hard, soft, gateMetric, gateMixedWeight);
