import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scoreOfficial } from '../../../src/benchmarks/officeqa/score-official.ts';
import { normalizeReference, scoreReference } from '../../../src/benchmarks/officeqa/score-reference.ts';
import { goldenCases } from '../../support/golden-cases.ts';

describe('the golden cases of OfficeQA', () => {
  type Scored = { answer: string; gold: string; em: number; f1: number; normalized: string };

  it('hold for the rule of SkillOpt', () => {
    const cases = goldenCases<Scored>('officeqa');
    expect(cases).toHaveLength(36);
    for (const { answer, gold, em, f1, normalized } of cases) {
      const { hard, soft } = scoreReference(answer, gold);
      expect({ answer, hard, normalized: normalizeReference(answer) }).toEqual({ answer, hard: em, normalized });
      expect(Math.abs(soft - f1)).toBeLessThanOrEqual(1e-12);
    }
  });

  it('hold for the benchmark’s own rule, at each tolerance', () => {
    const cases = goldenCases<{ gold: string; answer: string; referenceEm: number } & Record<string, number>>(
      'officeqa-official',
    );
    expect(cases).toHaveLength(39);
    for (const each of cases) {
      const { gold, answer } = each;
      const scores = [0, 0.01, 0.05].map((tolerance) => scoreOfficial(answer, gold, tolerance));
      expect({ gold, answer, scores }).toEqual({
        gold,
        answer,
        scores: [each['official0.0'], each['official0.01'], each['official0.05']],
      });
      expect({ gold, answer, em: scoreReference(answer, gold).hard }).toEqual({ gold, answer, em: each.referenceEm });
    }
  });
});
