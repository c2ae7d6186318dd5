import {
  type Evaluation,
  evaluateGate,
  type Gate,
  type Item,
  type RolloutResult,
  selectGateScore,
  toEvaluation,
} from '../../core/contracts/index.ts';
import { type Blame, passOf, type StepAction, toEvidence, toObservations } from '../../core/run/index.ts';
import { exactRace, hardestFirst, startable } from '../../core/stats/index.ts';
import { whyInvalid } from '../rollout/require-scores.ts';
import { type RolloutInput, runRollout } from '../rollout/rollout.ts';
import { countedTogether, type StageDeps, settleAll } from '../stage-deps.ts';
import type { Candidate } from '../update/update.ts';
import { findBlame, type GateConfig, type JudgedCandidate, type RaceInput } from './race-input.ts';
import { raceSkill } from './race-skill.ts';

/** ⑥ Gate: the candidate replaces the skill only if it is strictly better on held-out items. */
export async function evaluateCandidate(
  input: RaceInput & { readonly candidate: Candidate },
  deps: StageDeps,
): Promise<JudgedCandidate> {
  const { candidate, state } = input;
  if (candidate.candidateHash !== state.current.hash) return judgeSkill(candidate, input, deps);
  return { evaluation: null, score: state.current.score, action: whyUnchanged(candidate), results: [] };
}

function whyUnchanged({ report }: Candidate): StepAction {
  if (report.length === 0) return 'skip_no_patches';
  const isWithout = report.every(({ op, status }) => REWRITES.has(op) && !status.startsWith('applied'));
  return isWithout ? 'skip_no_rewrite' : 'unchanged';
}

const REWRITES: ReadonlySet<string> = new Set(['suggest', 'rewrite']);

type CandidateText = Pick<Candidate, 'candidateSkill' | 'candidateHash'>;

type Judge = (text: CandidateText, input: RaceInput, deps: StageDeps) => Promise<JudgedCandidate>;

const judges: Readonly<Record<Gate, Judge>> = {
  paired: (text, input, deps) => raceSkill(text.candidateSkill, input, deps),
  strict: judgeByPass,
};

/** The gate judges a document. Without a gate, one pass measures it, and it is taken. An unusable one is not measured. */
export async function judgeSkill(text: CandidateText, input: RaceInput, deps: StageDeps): Promise<JudgedCandidate> {
  const invalidReason = await input.whyUnusable?.(text.candidateSkill);
  if (invalidReason !== undefined) {
    return { ...turnDown({ evaluation: null, results: [], invalidReason }, input), action: 'skip_invalid' };
  }
  const { gate = 'strict', useGate } = input.config;
  return judges[useGate ? gate : 'strict'](text, input, countedTogether(deps, input.items.length));
}

/** By the score of one pass. A text that was measured before is not measured again. */
async function judgeByPass(text: CandidateText, input: RaceInput, deps: StageDeps): Promise<JudgedCandidate> {
  const { state, config } = input;
  const known = passOf(state, text.candidateHash);
  if (known)
    return { evaluation: null, score: gateScore(known, config), results: [], action: decide(text, known, input) };
  const { evaluation, results, isPartial, score, blame } = await measure(text, input, deps);
  const invalidReason = whyInvalid(results, deps.maxErroredShare, input.items.length);
  if (invalidReason !== undefined) return turnDown({ evaluation, results, invalidReason }, input);
  // A partial pass has lost: its score is the most that it could have reached.
  const action = isPartial ? ('reject' as const) : decide(text, evaluation, input);
  return { evaluation, score, results, action, ...(isPartial ? { isPartial } : {}), ...(blame ? { blame } : {}) };
}

/** An invalid evaluation has no score: the candidate gets the score that it had to beat. */
function turnDown(unmeasured: Pick<JudgedCandidate, 'evaluation' | 'results' | 'invalidReason'>, { state }: RaceInput) {
  return { ...unmeasured, score: state.current.score, action: 'reject' as const, isPartial: true };
}

async function measure({ candidateSkill: skill }: CandidateText, input: RaceInput, deps: StageDeps) {
  const { env, items, config } = input;
  if (config.racing === 'exact' && config.useGate) return raceExactly(skill, input, deps);
  const results = await runRollout({ env, skill, items, isPart: true }, deps);
  const blame = await findBlame({ skill, results, ...roomAfter(results, input) }, input, deps);
  const evaluation = toEvaluation(results);
  return { evaluation, results, isPartial: blame !== undefined, score: gateScore(evaluation, config), blame };
}

type PassScore = Pick<Evaluation, 'hard' | 'soft'>;

function decide(text: CandidateText, { hard, soft }: PassScore, { state, config }: RaceInput): StepAction {
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

/** Not the number of workers: the record says how many items a loser has met. */
const MOST_AT_ONCE = 8;

/**
 * The strict gate, stopped as soon as it is certain that the candidate loses. Hardest items first: they decide early. The
 * score of a partial pass is the most that a whole one could have given.
 */
async function raceExactly(skill: string, input: RaceInput, deps: StageDeps) {
  const { env, config } = input;
  const items = hardestItems(input);
  const results: RolloutResult[] = [];
  while (results.length < items.length) {
    const race = standing(results, input);
    const isLost = exactRace({ ...race, remaining: items.length - results.length }).state === 'cannot-win';
    if (isLost) return lost(results, input);
    const count = startable({ ...race, inFlight: 0, waiting: items.length - results.length, limit: MOST_AT_ONCE });
    const wave = items.slice(results.length, results.length + count);
    results.push(...(await runRollout({ env, skill, items: wave, isPart: true }, deps)));
    const blame = await findBlame({ skill, results, ...roomAfter(results, input) }, input, deps);
    if (blame) return lost(results, input, blame);
    if (whyInvalid(results, deps.maxErroredShare, items.length)) break; // whatever the rest would give
  }
  const whole = inOrder(results, input);
  return { ...whole, isPartial: false, score: gateScore(whole.evaluation, config), blame: undefined };
}

function roomAfter({ length }: readonly RolloutResult[], { items, rolloutsLeft }: RaceInput) {
  return { total: items.length, rolloutsLeft: rolloutsLeft === undefined ? undefined : rolloutsLeft - length };
}

function lost(results: readonly RolloutResult[], input: RaceInput, blame?: Blame) {
  const remaining = input.items.length - results.length;
  const score = exactRace({ ...standing(results, input), remaining }).upperBound;
  return { ...inOrder(results, input), isPartial: true, score, blame };
}

function standing(results: readonly RolloutResult[], { state, config }: RaceInput) {
  return {
    bar: Math.min(state.current.score, state.best.score), // beating either is accepted
    finished: toObservations(toEvaluation(results).scores, config).map(({ score }) => score),
    isPlainMean: config.gateMetric !== 'mixed',
  };
}

function hardestItems({ items, state }: RaceInput): RaceInput['items'] {
  const byId = new Map(items.map((item) => [item.id, item]));
  return hardestFirst([...byId.keys()], toEvidence(state.gate.own)).map((id) => byId.get(id)!);
}

/** In the order of a whole pass: sums of floats depend on their order, and so would a tie. */
function inOrder(results: readonly RolloutResult[], { items }: RaceInput) {
  const byId = new Map(results.map((result) => [result.id, result]));
  const ordered = items.flatMap(({ id }) => byId.get(id) ?? []);
  return { evaluation: toEvaluation(ordered), results: ordered };
}

type ScoredPass<I extends Item> = Pick<RolloutInput<I>, 'env' | 'skill' | 'items' | 'sampleIndex'>;

/** One pass of a skill over items. */
export async function scoreSkill<I extends Item>(input: ScoredPass<I>, deps: StageDeps) {
  const results = await runRollout(input, deps);
  return { evaluation: toEvaluation(results), results };
}

/** Several passes at the same time, each with draws of its own. */
export function scorePasses<I extends Item>(
  input: ScoredPass<I>,
  { passes, from }: { readonly passes: number; readonly from: number },
  deps: StageDeps,
) {
  const together = countedTogether(deps, passes * input.items.length);
  return settleAll(
    Array.from({ length: passes }, (_, pass) => scoreSkill({ ...input, sampleIndex: from + pass }, together)),
  );
}
