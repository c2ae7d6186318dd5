import { ModelCallError, type RolloutResult, SkillError } from '../../core/contracts/index.ts';
import { MAX_MISSING_SHARE, shareText } from '../../core/stats/index.ts';
import { head } from '../../core/text/index.ts';

type CheckedResult = Pick<RolloutResult, 'id' | 'errored' | 'unjudged' | 'threw' | 'failReason' | 'extras'>;

/** A mean over what happened to get through would not be about the skill. Nothing of it is kept, so it is tried again. */
export function requireScores(results: readonly CheckedResult[], maxErroredShare: number): void {
  requireWorkingEnv(results, results.length);
  requireReachable(results, maxErroredShare);
}

/** Of a candidate judgements may be missing: it is then turned down. */
export const judgedOf = (results: readonly CheckedResult[]) => results.filter(({ unjudged }) => !unjudged);

/** An outage stops the run. */
export function requireReachable(
  results: readonly CheckedResult[],
  maxErroredShare: number,
  total = results.length,
): void {
  const why = whyUnscored(results, maxErroredShare, total);
  if (why) throw why;
}

/** Why a mean over these results would say nothing, for those who want to show them all the same. */
export function whyUnscored(
  results: readonly CheckedResult[],
  maxErroredShare: number,
  total = results.length,
): SkillError | undefined {
  const missing = results.filter(({ errored }) => errored);
  return missing.length > maxErroredShare * total ? tooFewScores(missing, total) : undefined;
}

/** One task that throws may be a hard one, also where it is the only one. */
const LEAST_THROWN = 2;

/** Tasks of a stage that threw, when these are most of it. */
export type Thrown = {
  readonly ids: readonly string[];
  readonly total: number;
  /** The most frequent, and of how many it is. */
  readonly reason: string;
  readonly count: number;
};

/**
 * More than half of a stage's tasks, or nothing. Of the stage, not of the tasks it has met so far: a race begins with the
 * hardest, and those may be the ones that always throw.
 */
export function mostThrown(results: readonly CheckedResult[], total: number): Thrown | undefined {
  const thrown = new Map(
    results.filter(({ threw }) => threw).map((result) => [result.id, head(result.failReason ?? '', 300)]),
  );
  if (thrown.size < LEAST_THROWN || thrown.size <= total / 2) return undefined;
  const [reason, count] = mostFrequent([...thrown.values()]);
  return { ids: [...thrown.keys()], total, reason, count };
}

/** Where most tasks throw under a skill that has worked before, it is not the skill that failed them. */
export function requireWorkingEnv(results: readonly CheckedResult[], total: number): void {
  const thrown = mostThrown(results, total);
  if (thrown) throw envFailed(thrown);
}

export function envFailed({ ids, total, reason, count }: Thrown): SkillError {
  const whose = count === ids.length ? 'each' : `${count} of them`;
  const message = `the environment threw on ${ids.length} of ${total} tasks, which is no score; ${whose} because: ${reason}`;
  return new SkillError('ENV_FAILED', message, { hint: ENV_HINT });
}

/** Of equals the first. */
function mostFrequent(reasons: readonly string[]): [reason: string, count: number] {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].reduce((most, other) => (other[1] > most[1] ? other : most));
}

/**
 * Why an evaluation says nothing about a candidate; `undefined` if it does. `maxErroredShare` may bear more outages than
 * usual, but a judge that cannot judge a fifth is no judge of the rest either.
 */
export function whyInvalid(
  results: readonly CheckedResult[],
  maxErroredShare: number,
  total = results.length,
): string | undefined {
  const missing = results.filter(({ errored }) => errored);
  const unjudged = missing.filter((result) => result.unjudged);
  const share = Math.max(maxErroredShare, MAX_MISSING_SHARE);
  if (missing.length <= share * total && unjudged.length <= MAX_MISSING_SHARE * total) return undefined;
  return `${missing.length} of ${total} items gave no result (${whatHappened(missing)}); at most ${shareText(share)} may be missing`;
}

function whatHappened(missing: readonly CheckedResult[]): string {
  const unjudged = missing.filter((result) => result.unjudged).length;
  const outages = missing.length - unjudged;
  return [
    ...(unjudged > 0 ? [`${unjudged} could not be judged`] : []),
    ...(outages > 0 ? [`${outages} met an outage`] : []),
  ].join(', ');
}

function tooFewScores(missing: readonly CheckedResult[], total: number): SkillError {
  const outage = missing.find(({ unjudged }) => !unjudged);
  const first = outage ?? missing[0];
  const because = `the first, ${first?.id}, because: ${first?.failReason}`;
  const isMixed = outage !== undefined && missing.some(({ unjudged }) => unjudged);
  const counts = `${missing.length} of ${total} tasks got no score`;
  const own = ownHint(missing);
  if (!outage && own !== undefined) return new SkillError('ENV_FAILED', `${counts}, ${because}`, { hint: own });
  if (!outage)
    return new SkillError('MODEL_REPLY_INVALID', `${counts}: no judgement, ${because}`, { hint: JUDGE_HINT });
  const message = isMixed ? `${counts} (${whatHappened(missing)}), ${because}` : `${counts}, ${because}`;
  return new ModelCallError(message, {
    isRetryable: false,
    hint: isMixed ? `${OUTAGE_HINT} ${own ?? JUDGE_HINT}` : OUTAGE_HINT,
  });
}

/** What an environment that scores by other means than a model says of the first that it could not score. */
function ownHint(missing: readonly CheckedResult[]): string | undefined {
  const hint = missing.find(({ unjudged }) => unjudged)?.extras?.hint;
  return typeof hint === 'string' ? hint : undefined;
}

const ENV_HINT =
  'Fix the cause shown above, then resume the run: attempts that threw were not kept, and are made again.';
const OUTAGE_HINT = 'Start again: only these tasks are tried again.';
const JUDGE_HINT =
  'The judge answered, but not as it was asked, and its replies are kept: use another judge model, or a rubric that it can follow.';
