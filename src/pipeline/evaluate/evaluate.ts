import { type Item, knowsNoise, toEvaluation } from '../../core/contracts/index.ts';
import type { StepAction } from '../../core/run/index.ts';
import { type RolloutInput, runRollout } from '../rollout/rollout.ts';
import { countedTogether, type StageDeps, settleAll } from '../stage-deps.ts';
import type { Candidate } from '../update/update.ts';
import { type CandidateText, judgeKnown, toPassVerdict, turnDown } from './pass-verdict.ts';
import type { JudgedCandidate, RaceInput } from './race-input.ts';
import { judgeByRace, type Race, raceSkill } from './race-skill.ts';
import { exactRule, openRule, pairedRule, strictRule } from './rules.ts';

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

/** The gate judges a document. Without a gate, one pass measures it, and it is taken. An unusable one is not measured. */
export async function judgeSkill(text: CandidateText, input: RaceInput, deps: StageDeps): Promise<JudgedCandidate> {
  const invalidReason = await input.whyUnusable?.(text.candidateSkill);
  if (invalidReason !== undefined) {
    return { ...turnDown({ evaluation: null, results: [], invalidReason }, input), action: 'skip_invalid' };
  }
  const race = {
    skill: text.candidateSkill,
    ...gateFor(input),
    input,
    deps: countedTogether(deps, input.items.length),
  };
  if (race.keepsEvidence) return judgeByRace(race);
  return judgeKnown(text, input) ?? toPassVerdict(await raceSkill(race), text, input);
}

/** The rule that decides: a stranger's, or the one that the config names. */
function gateFor({ rule, config }: RaceInput): Pick<Race, 'rule' | 'keepsEvidence'> {
  const { useGate, gate = 'strict', racing } = config;
  if (!useGate) return { rule: openRule, keepsEvidence: false };
  if (knowsNoise(gate)) return { rule: rule ?? pairedRule, keepsEvidence: true };
  return { rule: racing === 'exact' ? exactRule : strictRule, keepsEvidence: false };
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
