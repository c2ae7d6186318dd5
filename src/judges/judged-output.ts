import type { RolloutOutput } from '../core/contracts/index.ts';
import type { AnswerJudgement } from './judge-answer.ts';
import type { SingleJudgement } from './single-judgement.ts';

export type JudgedOutputOptions = {
  /** The lowest score that counts as success. Beside a reference, a half is «as good as that». */
  readonly passMark?: number;
};

/**
 * A judgement as the result of a rollout. Without a score the result is missing, which is not zero: no mean counts it and
 * no analyst sees it. Add to it what else the rollout has to tell.
 */
export function judgedOutput(
  { score, judgements }: AnswerJudgement,
  { passMark = 0.5 }: JudgedOutputOptions = {},
): RolloutOutput {
  const extras = { judgements };
  if (score === null) {
    return { hard: 0, soft: 0, errored: true, unjudged: true, failReason: whyMissing(judgements), extras };
  }
  const hard = score >= passMark ? 1 : 0;
  return { hard, soft: score, ...(hard ? {} : { failReason: whyFailed(judgements, passMark) }), extras };
}

function whyMissing(judgements: readonly SingleJudgement[]): string {
  const asked = `asked ${judgements.length} times`;
  const isOneSided = judgements.some(({ position, score }) => position !== undefined && score !== null);
  if (isOneSided) return `judged in one position only, ${asked}: a score takes both`;
  return `the judge gave no judgement that can be used, ${asked}`;
}

/** The words of the judgement with the lowest score. */
function whyFailed(judgements: readonly SingleJudgement[], passMark: number): string {
  const [worst] = judgements.filter(({ score }) => score !== null).sort((a, b) => a.score! - b.score!);
  return `judged below ${passMark}: ${worst?.reason || 'no reason given'}`;
}
