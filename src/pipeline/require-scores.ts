import { ModelCallError, SkillError } from '../core/errors.ts';
import type { RolloutResult } from '../core/rollout-result.ts';
import { MAX_MISSING_SHARE } from '../core/stats/evidence.ts';

type Result = Pick<RolloutResult, 'errored' | 'unjudged' | 'failReason'>;

/** A mean over what happened to get through would not be about the skill. Nothing of it is kept, so it is tried again. */
export function requireScores(results: readonly Result[], maxErroredShare: number, total = results.length): void {
  const missing = results.filter(({ errored }) => errored);
  if (missing.length > maxErroredShare * total) throw tooFewScores(missing, total);
}

/** The same of a candidate, which may do without judgements: it is then turned down. An outage stops the run. */
export function requireReachable(results: readonly Result[], maxErroredShare: number, total = results.length): void {
  const reached = results.filter(({ unjudged }) => !unjudged);
  requireScores(reached, maxErroredShare, total);
}

/** Why an evaluation says nothing about a candidate; `undefined` if it does. */
export function whyInvalid(results: readonly Result[], total = results.length): string | undefined {
  const missing = results.filter(({ errored }) => errored);
  if (missing.length <= MAX_MISSING_SHARE * total) return undefined;
  return `${missing.length} of ${total} items gave no result (${whatHappened(missing)}); at most a fifth may be missing`;
}

function whatHappened(missing: readonly Result[]): string {
  const unjudged = missing.filter((result) => result.unjudged).length;
  const outages = missing.length - unjudged;
  return [
    ...(unjudged > 0 ? [`${unjudged} could not be judged`] : []),
    ...(outages > 0 ? [`${outages} met an outage`] : []),
  ].join(', ');
}

function tooFewScores(missing: readonly Result[], total: number): SkillError {
  const outage = missing.find(({ unjudged }) => !unjudged);
  const because = `the first because: ${(outage ?? missing[0])?.failReason}`;
  const isMixed = outage !== undefined && missing.some(({ unjudged }) => unjudged);
  const counts = `${missing.length} of ${total} tasks got no score`;
  if (!outage)
    return new SkillError('MODEL_REPLY_INVALID', `${counts}: no judgement, ${because}`, { hint: JUDGE_HINT });
  const message = isMixed ? `${counts} (${whatHappened(missing)}), ${because}` : `${counts}, ${because}`;
  return new ModelCallError(message, {
    isRetryable: false,
    hint: isMixed ? `${OUTAGE_HINT} ${JUDGE_HINT}` : OUTAGE_HINT,
  });
}

const OUTAGE_HINT = 'Start again: only these are tried again.';
const JUDGE_HINT =
  'The judge answered, but not as it was asked, and its replies are kept: use another judge model, or a rubric that it can follow.';
