import { ModelCallError, type RolloutResult, SkillError } from '../../core/contracts/index.ts';
import { MAX_MISSING_SHARE, shareText } from '../../core/stats/index.ts';
import { head } from '../../core/text/index.ts';

type Results = readonly Pick<RolloutResult, 'id' | 'errored' | 'unjudged' | 'threw' | 'failReason' | 'extras'>[];

/** Refuses results of which too many have no score. They are not kept, and are tried again. */
export function requireScores(results: Results, maxErroredShare: number): void {
  requireWorkingEnv(results, results.length);
  requireReachable(results, maxErroredShare);
}

export function requireReachable(results: Results, maxErroredShare: number, total = results.length): void {
  const missing = results.filter(({ errored }) => errored);
  if (missing.length > maxErroredShare * total) throw tooFewScores(missing, total);
}

/** Why a mean over these results says nothing. A mean of none says nothing, whatever the share. */
export function whyUnscored(results: Results, maxErroredShare: number): SkillError | undefined {
  const missing = results.filter(({ errored }) => errored);
  const isNothing = missing.length > 0 && missing.length === results.length;
  return isNothing || missing.length > maxErroredShare * results.length
    ? tooFewScores(missing, results.length)
    : undefined;
}

/** One task that throws may be a hard one. */
const LEAST_THROWN = 2;

/** The tasks of a stage that threw, where they are most of it. */
export type Thrown = {
  readonly ids: readonly string[];
  readonly total: number;
  /** The most frequent reason, and how many tasks have it. */
  readonly reason: string;
  readonly count: number;
};

/** `total` counts the whole stage: a race begins with the hardest tasks, which may be those that always throw. */
export function mostThrown(results: Results, total: number): Thrown | undefined {
  const thrown = new Map(
    results.filter(({ threw }) => threw).map((result) => [result.id, head(result.failReason ?? '', 300)]),
  );
  if (thrown.size < LEAST_THROWN || thrown.size <= total / 2) return undefined;
  const [reason, count] = mostFrequent([...thrown.values()]);
  return { ids: [...thrown.keys()], total, reason, count };
}

/** Where most tasks throw under a skill that has worked before, the environment is broken. */
export function requireWorkingEnv(results: Results, total: number): void {
  const thrown = mostThrown(results, total);
  if (thrown) throw envFailed(thrown);
}

export function envFailed({ ids, total, reason, count }: Thrown): SkillError {
  const whose = count === ids.length ? 'each' : `${count} of them`;
  const message = `the environment threw on ${ids.length} of ${total} tasks, which is no score; ${whose} because: ${reason}`;
  return new SkillError('ENV_FAILED', message, { hint: ENV_HINT });
}

function mostFrequent(reasons: readonly string[]): [reason: string, count: number] {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].reduce((most, other) => (other[1] > most[1] ? other : most));
}

/**
 * Why an evaluation says nothing about a candidate. `maxErroredShare` may allow more outages than usual, but a judge that
 * cannot judge a fifth is no judge of the rest.
 */
export function whyInvalid(results: Results, maxErroredShare: number, total = results.length): string | undefined {
  const missing = results.filter(({ errored }) => errored);
  const unjudged = missing.filter((result) => result.unjudged);
  const share = Math.max(maxErroredShare, MAX_MISSING_SHARE);
  if (missing.length <= share * total && unjudged.length <= MAX_MISSING_SHARE * total) return undefined;
  return `${missing.length} of ${total} items gave no result (${whatHappened(missing)}); at most ${shareText(share)} may be missing`;
}

function whatHappened(missing: Results): string {
  const unjudged = missing.filter((result) => result.unjudged).length;
  const outages = missing.length - unjudged;
  return [
    ...(unjudged > 0 ? [`${unjudged} could not be judged`] : []),
    ...(outages > 0 ? [`${outages} met an outage`] : []),
  ].join(', ');
}

function tooFewScores(missing: Results, total: number): SkillError {
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

/** The hint of an environment that scores by other means than a model. */
function ownHint(missing: Results): string | undefined {
  const hint = missing.find(({ unjudged }) => unjudged)?.extras?.hint;
  return typeof hint === 'string' ? hint : undefined;
}

const ENV_HINT =
  'Fix the cause shown above, then resume the run: attempts that threw were not kept, and are made again.';
const OUTAGE_HINT = 'Start again: only these tasks are tried again.';
const JUDGE_HINT =
  'The judge answered, but not as it was asked, and its replies are kept: use another judge model, or a rubric that it can follow.';
