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
  type Verdict,
  type Veto,
  type WaveJudgement,
} from '../../core/stats/index.ts';
import { defined } from '../../core/text/index.ts';
import { whyInvalid } from '../rollout/require-scores.ts';
import type { GateRound, RuleEvidence } from './acceptance-rule.ts';
import type { JudgedCandidate, RaceInput } from './race-input.ts';

/** What was rolled out so far: the candidate, and the current skill beside it. */
export type RaceResults = {
  readonly attempts: readonly RolloutResult[];
  readonly refreshed: readonly RolloutResult[];
  readonly rounds: readonly GateRound[];
  readonly blame?: Blame | undefined;
  /** The judgements so far. */
  readonly waves: readonly WaveVerdict[];
};

/** What a rule said, or the race itself. */
export type Judgement = {
  readonly verdict: Verdict | 'continue';
  readonly reason: string;
  readonly needs?: WaveJudgement['needs'];
};

export type JudgedRace = { readonly shown: RaceResults; readonly judgement: Judgement };

/** A winner that was asked about items once more, and the current skill about the same. */
export type AskedAgain = {
  readonly veto: Veto;
  readonly incumbent: readonly RolloutResult[];
  readonly candidate: readonly RolloutResult[];
};

export const scoresIn = (results: readonly RolloutResult[]) => toEvaluation(results).scores;

export const metIn = (attempts: readonly { readonly id: string }[]) => new Set(attempts.map(({ id }) => id));

/** The first attempt at each task, and the others: a second pass, where there was one. */
function splitPasses(attempts: readonly RolloutResult[]) {
  const met = new Set<string>();
  const isFirst = attempts.map(({ id }) => !met.has(id) && met.add(id).size > 0);
  const first = attempts.filter((_, place) => isFirst[place]);
  return { first, further: attempts.filter((_, place) => !isFirst[place]) };
}

/** Both sides as a rule sees them. */
export function toRuleEvidence(
  { attempts, refreshed, rounds }: RaceResults,
  { state, config }: RaceInput,
): RuleEvidence {
  const scores = scoresIn(attempts);
  const observations = toObservations(scores, config);
  const before = toKnowledge(state.gate);
  return {
    attempts: scores.map((score, place) => ({ ...score, score: observations[place]!.score })),
    candidate: addObservations(noEvidence, observations),
    current: addOwn(before, toObservations(scoresIn(refreshed), config)),
    before,
    rounds: structuredClone(rounds), // a rule may do with it what it likes
  };
}

const shareOf = ({ maxErroredShare = MAX_MISSING_SHARE }: RaceInput['config']) => maxErroredShare;

/** Why too few attempts have a result to say anything. */
export function whyTooFew({ attempts }: RaceResults, { items, config }: RaceInput): string | undefined {
  const { first, further } = splitPasses(attempts);
  const share = shareOf(config);
  const total = Math.max(items.length, further.length); // a rule may ask for many rounds
  return whyInvalid(first, share, items.length) ?? whyInvalid(further, share, total);
}

/** Whether a winner may be taken before it has met every task: the veto must see all, and enough must have a result. */
export const mayWinEarly = ({ attempts }: RaceResults, { config }: RaceInput) =>
  !config.regressionVeto && whyInvalid(splitPasses(attempts).first, shareOf(config)) === undefined;

/** What the statistics say of a race, whichever rule decides it. */
export function figuresOf(shown: RaceResults, input: RaceInput) {
  const { candidate, current } = toRuleEvidence(shown, input);
  const met = metIn(shown.attempts);
  const {
    verdict,
    reason,
    needs: _needs,
    ...figures
  } = judgeWave({
    ...{ knowledge: current, observed: candidate, settings: NO_MATTER },
    missing: [...met].filter((id) => !candidate.has(id)),
    maxMissingShare: Math.max(shareOf(input.config), MAX_MISSING_SHARE),
    remaining: input.items.map(({ id }) => id).filter((id) => !met.has(id)),
  });
  return { figures, invalid: verdict === 'invalid' ? reason : undefined };
}

/** The figures do not depend on how a race is run. */
const NO_MATTER = { firstWave: 1, price: 0, hasSecondPass: false };

/** For a gate that keeps evidence of each task. */
export function toVerdict(judged: JudgedRace, asked: AskedAgain | undefined, input: RaceInput): JudgedCandidate {
  const { attempts, refreshed, blame } = judged.shown;
  const { first: results, further: confirmation } = splitPasses(attempts);
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
  { shown, judgement: { verdict, reason, needs } }: JudgedRace,
  veto: RegressionCheck | undefined,
  input: RaceInput,
): GateDecision {
  const confirmed = scoresIn(splitPasses(shown.attempts).further);
  return {
    ...figuresOf(shown, input).figures,
    ...defined({ needs }),
    verdict: verdict === 'continue' ? 'inconclusive' : veto?.isVetoed ? 'reject' : verdict,
    reason: veto?.isVetoed ? veto.reason : reason,
    refreshed: scoresIn(shown.refreshed),
    ...(confirmed.length > 0 ? { confirmation: confirmed } : {}),
    ...(veto ? { veto } : {}),
    total: input.items.length,
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
