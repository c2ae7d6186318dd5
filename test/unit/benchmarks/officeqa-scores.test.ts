import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readList } from '../../../src/benchmarks/officeqa/item.ts';
import { scoreOfficial } from '../../../src/benchmarks/officeqa/score-official.ts';
import { normalizeReference, scoreReference } from '../../../src/benchmarks/officeqa/score-reference.ts';
import { type OfficeQaSettings, Settings, scoreWith } from '../../../src/benchmarks/officeqa/settings.ts';
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
    const cases = goldenCases<{ gold: string; answer: string } & Record<string, number>>('officeqa-official');
    expect(cases).toHaveLength(39);
    for (const { gold, answer, ...scored } of cases) {
      const scores = [0, 0.01, 0.05].map((tolerance) => scoreOfficial(answer, gold, tolerance));
      const wanted = [scored['official0.0'], scored['official0.01'], scored['official0.05']];
      expect({ gold, answer, scores }).toEqual({ gold, answer, scores: wanted });
      expect({ gold, answer, em: scoreReference(answer, gold).hard }).toEqual({ gold, answer, em: scored.referenceEm });
    }
  });

  it('hold for cells with lists', () => {
    const cases = goldenCases<{ value: unknown; out: string[] }>('officeqa-loader');
    expect(cases).toHaveLength(14);
    for (const { value, out } of cases) expect({ value, list: readList(value) }).toEqual({ value, list: out });
  });
});

/** What the published rule says beside the golden cases. */
describe('the benchmark’s own rule', () => {
  it.each([
    ['[8, 152260]', '[8,152,260]', 1],
    ['[8, 152260]', '8, 152,260', 1],
    ['[8, 152260]', '[152,260, 8]', 0],
    ['[28, 2444.28]', '[28,2444.28]', 1],
    ['3 and 4', '4 and 3', 1],
    ['3 and 4', '3, 4 and 5', 0],
    ['152260', '152,260', 1],
    ['5', 'fiscal year 1990: 5', 1],
    ['1990', 'fiscal year 1990', 1],
    ['5', '5 or 6', 0],
    ['5', 'about 5\nor so', 0],
    ['5', `5${' '.repeat(10)}${'x'.repeat(250)}`, 0],
    ['5', 'unable to determine, perhaps 5', 0],
    ['5', '<b>5</b>', 0],
    ['5', '', 0],
    ['2.5 billion', '2.5 million', 0],
    ['-5', '$(5)', 1],
    ['-5', '($5)', 1],
    ['1977', '(1977)', 1],
    ['Old Mole', '"old  mole"', 1],
    ['Old Mole', 'Old Mole 3', 0],
    ['507', '<FINAL_ANSWER>506</FINAL_ANSWER> no: <final_answer> 507 </final_answer>', 1],
  ])('for %s, scores %s with %d', (gold, answer, score) => {
    expect(scoreOfficial(answer, gold, 0)).toBe(score);
  });
});

describe('scores of any texts', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc
      .array(
        fc.constantFrom(
          '1',
          '23',
          ',',
          '.',
          '[',
          ']',
          '(',
          ')',
          '-',
          '%',
          '$',
          ' ',
          'million',
          'm',
          '<',
          '>',
          '1977',
          '"',
        ),
        {
          maxLength: 60,
        },
      )
      .map((parts) => parts.join('')),
  );
  const settings = (values: object) => Settings.parse(values) as OfficeQaSettings;

  it('are between 0 and 1, and partial credit is never below the verdict', () => {
    const rules = [settings({}), settings({ tolerance: 0.05 }), settings({ rule: 'reference' })];
    fc.assert(
      fc.property(text, text, (answer, gold) => {
        for (const rule of rules) {
          const { hard, soft } = scoreWith(rule, answer, gold);
          expect([0, 1]).toContain(hard);
          expect(soft).toBeGreaterThanOrEqual(hard);
          expect(soft).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('never fall when more tolerance is given', () => {
    fc.assert(
      fc.property(text, text, (answer, gold) => {
        expect(scoreOfficial(answer, gold, 0.05)).toBeGreaterThanOrEqual(scoreOfficial(answer, gold, 0));
      }),
    );
  });

  it.each([
    '1,111,'.repeat(40),
    `[${'1,111,'.repeat(20_000)}1]`,
    '('.repeat(200_000),
    '<final_answer>'.repeat(20_000),
    '"'.repeat(200_000),
    `${' '.repeat(200_000)}x`,
    '7'.repeat(200_000),
  ])('come soon for a hostile one (%#)', (hostile) => {
    const list = `[${Array.from({ length: 30 }, () => '1').join(', ')}]`;
    for (const rule of [settings({}), settings({ rule: 'reference' })])
      expect(scoreWith(rule, hostile, list).hard + scoreWith(rule, hostile, '5').hard).toBe(0);
  });
});
