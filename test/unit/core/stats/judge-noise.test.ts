import { describe, expect, it } from 'vitest';
import { PythonRandom } from '../../../../src/core/contracts/index.ts';
import { combineJudgements, type Judgement } from '../../../../src/public/stats.ts';

const judgement = (id: string, rollout: number, score: number | null, position?: 'first' | 'second'): Judgement => ({
  id,
  rollout,
  score,
  ...(position === undefined ? {} : { position }),
});

describe('combineJudgements', () => {
  it('averages repeats, and both positions with equal weight', () => {
    const { scores, positionBias } = combineJudgements([
      judgement('a', 0, 0.9, 'first'),
      judgement('a', 0, 0.7, 'first'),
      judgement('a', 0, 0.4, 'second'),
    ]);
    expect(scores).toHaveLength(1);
    expect(scores[0]!.score).toBeCloseTo(0.6, 12);
    expect(positionBias).toBeCloseTo(0.4, 12);
  });

  it('takes a failed judgement for missing, not for zero', () => {
    const noise = combineJudgements([judgement('a', 0, 0.8), judgement('a', 0, null), judgement('b', 0, Number.NaN)]);
    expect(noise.scores.map(({ score }) => score)).toEqual([0.8, null]);
    expect(noise).toMatchObject({ missingShare: 0.5, isInvalid: true });
  });

  it('has no score for a rollout that was judged in one position only', () => {
    const oneSided = [judgement('a', 0, 1, 'first'), judgement('a', 0, 1, 'first'), judgement('a', 0, null, 'second')];
    const both = [judgement('b', 0, 0.9, 'first'), judgement('b', 0, 0.5, 'second')];
    const noise = combineJudgements([...oneSided, ...both, judgement('c', 0, 0, 'second')]);
    expect(noise.scores.map(({ score, judgements }) => [score, judgements])).toEqual([
      [null, 2],
      [0.7, 2],
      [null, 1],
    ]);
    expect(noise).toMatchObject({ failedShare: 1 / 6, missingShare: 2 / 3, isInvalid: true });
    expect(noise.positionBias).toBeCloseTo(0.4, 12);
  });

  it("takes no one-sided score for the rollouts' own noise", () => {
    // A taste for the first place of 0.4 and nothing else: scores of one position would seem to vary.
    const passes = [0, 1, 2].flatMap((rollout) => [
      judgement('a', rollout, 0.9, 'first'),
      judgement('a', rollout, rollout === 2 ? null : 0.5, 'second'),
    ]);
    expect(combineJudgements(passes)).toMatchObject({ judgeVariance: 0, rolloutVariance: 0, missingShare: 1 / 3 });
    // A rollout without a score has no part in what averaging leaves of the judge's noise either.
    const scored = [0.2, 0.8].flatMap((score, rollout) =>
      [0.1, -0.1, 0.1, -0.1].map((off, i) => judgement('b', rollout, score + off, i < 2 ? 'first' : 'second')),
    );
    const oneMore = [...scored, judgement('b', 2, 0.9, 'first')];
    expect(combineJudgements(oneMore).rolloutVariance).toBe(combineJudgements(scored).rolloutVariance);
  });

  it('is invalid for a judge that always fails, and has no scores', () => {
    const failed = ['a', 'b', 'c'].map((id) => judgement(id, 0, null));
    expect(combineJudgements(failed)).toMatchObject({
      missingShare: 1,
      isInvalid: true,
      judgeVariance: undefined,
      rolloutVariance: undefined,
      positionBias: undefined,
    });
    expect(combineJudgements([])).toMatchObject({ scores: [], missingShare: 0, isInvalid: false });
  });

  it('is valid up to a fifth missing', () => {
    const five = [null, 1, 1, 0, 1].map((score, i) => judgement(`${i}`, 0, score));
    expect(combineJudgements(five).isInvalid).toBe(false);
    expect(combineJudgements([...five, judgement('6', 0, null)]).isInvalid).toBe(true);
  });

  it("tells the judge's noise from the rollouts' own", () => {
    const dice = new PythonRandom(4);
    const noise = (sd: number) => sd * Math.sqrt(12) * (dice.random() - 0.5);
    const judgements: Judgement[] = [];
    for (let item = 0; item < 400; item++) {
      for (let rollout = 0; rollout < 3; rollout++) {
        const score = 0.5 + noise(0.2);
        for (const position of ['first', 'second'] as const) {
          const bias = position === 'first' ? 0.05 : -0.05;
          for (let repeat = 0; repeat < 2; repeat++) {
            judgements.push(judgement(`${item}`, rollout, score + bias + noise(0.1), position));
          }
        }
      }
    }
    const { judgeVariance, rolloutVariance, positionBias } = combineJudgements(judgements);
    expect(judgeVariance).toBeCloseTo(0.01, 3);
    expect(rolloutVariance! / 0.04).toBeGreaterThan(0.9);
    expect(rolloutVariance! / 0.04).toBeLessThan(1.1);
    expect(positionBias).toBeCloseTo(0.1, 2);
  });

  it('takes a judgement in each position for a repeat, once the bias is out', () => {
    const dice = new PythonRandom(9);
    const noise = (sd: number) => sd * Math.sqrt(12) * (dice.random() - 0.5);
    const judgements: Judgement[] = [];
    for (let item = 0; item < 2000; item++) {
      for (let rollout = 0; rollout < 2; rollout++) {
        const score = 0.5 + noise(0.2);
        judgements.push(judgement(`${item}`, rollout, score + 0.15 + noise(0.1), 'first'));
        judgements.push(judgement(`${item}`, rollout, score - 0.15 + noise(0.1), 'second'));
      }
    }
    const { judgeVariance, rolloutVariance, positionBias } = combineJudgements(judgements);
    expect(judgeVariance! / 0.01).toBeGreaterThan(0.9);
    expect(judgeVariance! / 0.01).toBeLessThan(1.1);
    expect(rolloutVariance! / 0.04).toBeGreaterThan(0.9);
    expect(rolloutVariance! / 0.04).toBeLessThan(1.1);
    expect(positionBias).toBeCloseTo(0.3, 1);
  });

  it('counts failed judgements apart from rollouts without any', () => {
    const some = [judgement('a', 0, null), judgement('a', 0, 1), judgement('b', 0, null), judgement('b', 0, null)];
    expect(combineJudgements(some)).toMatchObject({ failedShare: 0.75, missingShare: 0.5 });
    expect(combineJudgements([]).failedShare).toBe(0);
  });
});
