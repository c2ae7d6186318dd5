import { z } from 'zod';
import type { RolloutResult } from '../core/contracts/index.ts';
import type { Judgement } from '../core/stats/index.ts';

/** One time that a judge was asked about an answer. */
export const SingleJudgement = z.object({
  /** Beside a reference: where the answer stood. */
  position: z.enum(['first', 'second']).optional(),
  /** `null`: what the judge said could not be read. */
  score: z.number().min(0).max(1).nullable(),
  /** In the judge's words. */
  reason: z.string().default(''),
});
export type SingleJudgement = z.infer<typeof SingleJudgement>;

const Extras = z.object({ judgements: z.array(SingleJudgement) });

/** The single judgements of a pass over tasks, as `combineJudgements` takes them. `rollout` is the pass's number. */
export function judgementsOf(results: readonly RolloutResult[], rollout: number): Judgement[] {
  return results.flatMap(({ id, extras }) => {
    const known = Extras.safeParse(extras);
    if (!known.success) return [];
    return known.data.judgements.map((judgement) => toJudgement(judgement, { id, rollout }));
  });
}

/** As the statistics take it. */
export function toJudgement({ position, score }: SingleJudgement, of: Pick<Judgement, 'id' | 'rollout'>): Judgement {
  return { ...of, score, ...(position === undefined ? {} : { position }) };
}
