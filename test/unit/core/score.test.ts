import { describe, expect, it } from 'vitest';
import { bucketScores, computeScore, toEvaluation } from '../../../src/core/contracts/index.ts';

describe('computeScore', () => {
  it('is the mean of each score', () => {
    expect(
      computeScore([
        { hard: 1, soft: 1 },
        { hard: 0, soft: 0.5 },
      ]),
    ).toEqual([0.5, 0.75]);
  });

  it('is zero for nothing', () => {
    expect(computeScore([])).toEqual([0, 0]);
  });

  it('reads what adapters in other languages write', () => {
    const written = [
      { hard: true, soft: '0.5' },
      { hard: null, soft: ' ' },
    ] as never[];
    expect(computeScore(written)).toEqual([0.5, 0.25]);
  });

  it('weakness 27: errors are not zeros, they are left out', () => {
    expect(
      computeScore([
        { hard: 1, soft: 1 },
        { hard: 0, soft: 0, errored: true },
      ]),
    ).toEqual([1, 1]);
    expect(computeScore([{ hard: 0, soft: 0, errored: true }])).toEqual([0, 0]);
  });
});

describe('toEvaluation', () => {
  it('keeps what scores are made of, and nothing of the conversation', () => {
    const results = [
      { id: 'a', hard: 1, soft: 1, taskType: 'dates', conversation: ['hi'], question: 'q' },
      { id: 'b', hard: 0, soft: 0.5, failReason: 'no' },
      { id: 'c', hard: 0, soft: 0, errored: true },
      { id: 'd', hard: 0, soft: 0, errored: false },
    ];
    expect(toEvaluation(results)).toEqual({
      hard: 1 / 3,
      soft: 0.5,
      scores: [
        { id: 'a', hard: 1, soft: 1, taskType: 'dates' },
        { id: 'b', hard: 0, soft: 0.5 },
        { id: 'c', hard: 0, soft: 0, errored: true },
        { id: 'd', hard: 0, soft: 0 },
      ],
    });
  });
});

describe('bucketScores', () => {
  const scores = [
    { id: 'a', hard: 1, soft: 1, taskType: 'dates' },
    { id: 'b', hard: 0, soft: 0.5, taskType: 'dates' },
    { id: 'c', hard: 1, soft: 1, taskType: 'sums' },
    { id: 'd', hard: 0, soft: 0, taskType: 'sums', errored: true as const },
    { id: 'e', hard: 0, soft: 0 },
  ];

  it('gives means per task type and overall, counting what has a score', () => {
    expect(bucketScores(scores)).toEqual({
      dates: { total: 2, hard: 0.5, soft: 0.75 },
      sums: { total: 1, hard: 1, soft: 1 },
      other: { total: 1, hard: 0, soft: 0 },
      overall: { total: 4, hard: 0.5, soft: 0.625 },
    });
  });

  it('lists announced types first, also those that no item has', () => {
    const buckets = bucketScores(scores, ['units', 'sums']);
    expect(Object.keys(buckets)).toEqual(['units', 'sums', 'dates', 'other', 'overall']);
    expect(buckets.units).toEqual({ total: 0, hard: 0, soft: 0 });
  });
});
