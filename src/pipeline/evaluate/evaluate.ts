import {
  type Evaluation,
  evaluateGate,
  type Gate,
  type Item,
  type RolloutResult,
  type SkillEnv,
  selectGateScore,
  toEvaluation,
} from '../../core/contracts/index.ts';
import { passOf, type StepAction } from '../../core/run/index.ts';
import { whyInvalid } from '../rollout/require-scores.ts';
import { runRollout } from '../rollout/rollout.ts';
import { settleAll } from '../settle-all.ts';
import type { StageDeps } from '../stage-deps.ts';
import type { Candidate } from '../update/update.ts';
import { findBlame } from './find-blame.ts';
import { raceExactly } from './race-exactly.ts';
import type { GateConfig, JudgedCandidate, RaceInput } from './race-input.ts';
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

type Text = Pick<Candidate, 'candidateSkill' | 'candidateHash'>;

type Judge = (text: Text, input: RaceInput, deps: StageDeps) => Promise<JudgedCandidate>;

/** How each gate judges a document. */
const judges: Readonly<Record<Gate, Judge>> = {
  paired: (text, input, deps) => raceSkill(text.candidateSkill, input, deps),
  strict: judgeByPass,
};

/** A document before the gate. Without a gate one pass measures it, and it is taken. What nobody could use is not measured. */
export async function judgeSkill(text: Text, input: RaceInput, deps: StageDeps): Promise<JudgedCandidate> {
  const invalidReason = await input.whyUnusable?.(text.candidateSkill);
  if (invalidReason !== undefined) {
    return { ...turnDown({ evaluation: null, results: [], invalidReason }, input), action: 'skip_invalid' };
  }
  const { gate = 'strict', useGate } = input.config;
  return judges[useGate ? gate : 'strict'](text, input, deps);
}

/** By the number that one pass gives. What was measured before is not measured again. */
async function judgeByPass(text: Text, input: RaceInput, deps: StageDeps): Promise<JudgedCandidate> {
  const { state, config } = input;
  const known = passOf(state, text.candidateHash);
  if (known)
    return { evaluation: null, score: gateScore(known, config), results: [], action: decide(text, known, input) };
  const { evaluation, results, isPartial, score, blame } = await measure(text, input, deps);
  const invalidReason = whyInvalid(results, deps.maxErroredShare, input.items.length);
  if (invalidReason !== undefined) return turnDown({ evaluation, results, invalidReason }, input);
  // What lost a race cannot win whatever the rest: its score is the most that it could have reached. Nor can what is to blame.
  const action = isPartial ? ('reject' as const) : decide(text, evaluation, input);
  return { evaluation, score, results, action, ...(isPartial ? { isPartial } : {}), ...(blame ? { blame } : {}) };
}

type Unmeasured = Pick<JudgedCandidate, 'evaluation' | 'results'> & { readonly invalidReason: string };

/** An invalid evaluation has no score: what the candidate had to beat stands in, as for one that changes nothing. */
function turnDown(unmeasured: Unmeasured, { state }: RaceInput): JudgedCandidate {
  return { ...unmeasured, score: state.current.score, action: 'reject', isPartial: true };
}

async function measure({ candidateSkill: skill }: Text, input: RaceInput, deps: StageDeps) {
  const { env, items, config } = input;
  if (config.racing === 'exact' && config.useGate) return raceExactly(skill, input, deps);
  const results = await runRollout({ env, skill, items, isPart: true }, deps);
  const rolloutsLeft = input.rolloutsLeft === undefined ? undefined : input.rolloutsLeft - results.length;
  const blame = await findBlame({ skill, results, total: results.length, rolloutsLeft }, input, deps);
  const evaluation = toEvaluation(results);
  return { evaluation, results, isPartial: blame !== undefined, score: gateScore(evaluation, config), blame };
}

function decide(
  text: Text,
  { hard, soft }: Pick<Evaluation, 'hard' | 'soft'>,
  { state, config }: RaceInput,
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
  config: Pick<GateConfig, 'gateMetric' | 'gateMixedWeight'>,
): number {
  return selectGateScore(hard, soft, config.gateMetric, config.gateMixedWeight);
}

/** One pass of a skill over items: its scores, and the results they came from. */
export async function scoreSkill<I extends Item>(
  input: {
    readonly env: SkillEnv<I>;
    readonly skill: string;
    readonly items: readonly I[];
    readonly sampleIndex?: number;
  },
  deps: StageDeps,
): Promise<{ evaluation: Evaluation; results: RolloutResult[] }> {
  const results = await runRollout(input, deps);
  return { evaluation: toEvaluation(results), results };
}

type Passes = { readonly passes: number; readonly from: number };

/** Several passes of a skill over items, each with draws of its own, all at the same time. */
export async function scorePasses<I extends Item>(
  input: { readonly env: SkillEnv<I>; readonly skill: string; readonly items: readonly I[] },
  { passes, from }: Passes,
  deps: StageDeps,
) {
  const scoring = Array.from({ length: passes }, (_, pass) => scoreSkill({ ...input, sampleIndex: from + pass }, deps));
  return settleAll(scoring);
}
