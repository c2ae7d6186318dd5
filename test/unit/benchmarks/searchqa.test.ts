import { describe, expect, it } from 'vitest';
import { truncateContext } from '../../../src/benchmarks/searchqa/searchqa.ts';
import { extractAnswer, normalizeAnswer, scoreAnswer } from '../../../src/envs/index.ts';
import { goldenCases } from '../../support/golden-cases.ts';

type Scored = { text: string; golds: string[]; em: number; f1: number; predicted: string; normalized: string };

/**
 * What we read otherwise on purpose. Nested tags: the inner answer counts, since models also write about "the <answer> tag". Rare
 * line breaks: Python ends a line at U+000B, U+000C, U+0085 and U+2028 too, which no model writes to end one.
 */

describe('the golden cases of SearchQA', () => {
  const cases = goldenCases<Scored>('searchqa');
  const differing = cases.filter(({ text, golds, em, f1, predicted }) => {
    const answer = extractAnswer(text);
    const { hard, soft } = scoreAnswer(answer, golds);
    return hard !== em || Math.abs(soft - f1) > 1e-12 || answer !== predicted;
  });

  it('hold, apart from those with a reason', () => {
    expect(differing.map(({ text }) => text)).toMatchInlineSnapshot(`
      [
        "<answer><answer>Z</answer></answer>",
        "line1 line2",
        "line1line2",
        "line1line2",
        "line1line2",
      ]
    `);
  });

  it('normalise as the reference does', () => {
    for (const { predicted, normalized } of cases) expect(normalizeAnswer(predicted)).toBe(normalized);
  });

  it('cut contexts where the reference cuts them', () => {
    for (const { context, maxChars, out } of goldenCases<{ context: string; maxChars: number; out: string }>(
      'searchqa-truncate',
    ))
      expect(truncateContext(context, maxChars)).toBe(out);
  });
});
