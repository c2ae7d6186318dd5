import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerIn, scoreAnls } from '../../../src/benchmarks/docvqa/anls.ts';
import { answersInCell, goldTexts } from '../../../src/benchmarks/docvqa/golds.ts';
import { parseLiteral } from '../../../src/benchmarks/docvqa/python-literal.ts';
import { repr, str, toLiteral } from '../../../src/benchmarks/docvqa/python-value.ts';
import { splitQuestion } from '../../../src/benchmarks/docvqa/read-row.ts';
import { goldenCases } from '../../support/golden-cases.ts';

type Scored = { text: string; golds: unknown; anls: number; predicted: string; targets: string[] };
type Loaded = { cell: string; answers: string[] } | { question: string; split: [string, string] };

/** A number in JSON does not tell whether it was written 5 or 5.0. The text of it does. */
const goldsOf = ({ text, golds }: Scored) => (text === '<answer>5.0</answer>' ? '[5.0]' : golds);

describe('the golden cases of DocVQA', () => {
  const cases = goldenCases<Scored>('docvqa');

  it.each(cases)('score $text for $golds', (scored) => {
    const golds = goldTexts(goldsOf(scored));
    expect(golds).toEqual(scored.targets);
    expect(answerIn(scored.text)).toBe(scored.predicted);
    expect(Math.abs(scoreAnls(scored.predicted, golds) - scored.anls)).toBeLessThanOrEqual(1e-12);
  });

  it.each(goldenCases<Loaded>('docvqa-loader'))('read %j', (loaded) => {
    if ('cell' in loaded) expect(answersInCell(loaded.cell)).toEqual(loaded.answers);
    else expect(splitQuestion(loaded.question)).toEqual(loaded.split);
  });
});

describe('values as Python writes them', () => {
  it.each([
    ['1_000', '1000'],
    ['- 5', '-5'],
    ['-0', '0'],
    ['0x1F', '31'],
    ['01.5', '1.5'],
    ['.5', '0.5'],
    ['1e16', '1e+16'],
    ['123456789012345678.0', '1.2345678901234568e+17'],
    ['1e-5', '1e-05'],
    ['0.0001', '0.0001'],
    ['-0.0', '-0.0'],
    ['1e400', 'inf'],
    ['1,', '(1,)'],
    ['(1)', '1'],
    ['()', '()'],
    ["'a' 'b'", 'ab'],
    [String.raw`r'\n'`, String.raw`\n`],
    [String.raw`'\x41\u0042\103\q'`, String.raw`ABC\q`],
    [`["it's", 'a"b', '\\'"']`, `["it's", 'a"b', '\\'"']`],
    [String.raw`['\u200b', 'é', '\x00']`, String.raw`['\u200b', 'é', '\x00']`],
    ['{1: [None], "a": (2, 3)}', "{1: [None], 'a': (2, 3)}"],
    ['[1\n,2]', '[1, 2]'],
  ])('%j is %j', (text, written) => {
    const value = parseLiteral(text);
    expect(value && str(value)).toBe(written);
  });

  it.each(['0123', '1 2', '1__0', '--5', '[,]', '[1 2]', "'a", "'a\nb'", '{1, 2}', "b'x'", '1+2j', 'true', '{[1]: 2}'])(
    '%j is no value',
    (text) => expect(parseLiteral(text)).toBeUndefined(),
  );

  it('are read back from what is written of them', () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string({ unit: 'binary' }),
        fc.constantFrom('\'"', '\\', '\u200b\n'),
        fc.boolean(),
        fc.constant(null),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.array(tie('value')),
        fc.dictionary(fc.string(), tie('value')),
      ),
    })).value;
    fc.assert(
      fc.property(value, (one) => {
        const literal = toLiteral(one);
        expect(parseLiteral(repr(literal))).toEqual(literal);
      }),
    );
  });

  it('are looked for in any text without harm', () => {
    const piece = fc.constantFrom(
      '[',
      ']',
      '(',
      '{',
      '}',
      ',',
      ':',
      "'",
      '"""',
      '\\',
      '\\x4',
      '1_',
      '.',
      'e+',
      '-',
      'None',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(answersInCell(pieces.join('')).every((answer) => answer !== '')).toBe(true);
        expect(goldTexts(pieces.join('')).length).toBeGreaterThan(0);
      }),
    );
    for (const long of ['[', '(1,', "'\\", '1_', '[[],', '{1:', '"""a'])
      expect(answersInCell(long.repeat(90_000 / long.length))).toHaveLength(1);
  });
});

describe('the similarity of an answer', () => {
  /** The definition, without anything saved. */
  function distance(one: readonly string[], other: readonly string[]): number {
    const [[first, ...rest], [begin, ...others]] = [one, other];
    if (first === undefined || begin === undefined) return Math.max(one.length, other.length);
    if (first === begin) return distance(rest, others);
    return 1 + Math.min(distance(rest, other), distance(one, others), distance(rest, others));
  }

  const short = fc.array(fc.constantFrom('a', '😁', '😀', '1'), { maxLength: 6 });

  it('is that of the definition, however long the answer', () => {
    fc.assert(
      fc.property(short, short, (one, other) => {
        const longer = Math.max(one.length, other.length);
        const share = longer === 0 ? 0 : distance(one, other) / longer;
        expect(scoreAnls(one.join(''), [other.join('')])).toBeCloseTo(share < 0.5 ? 1 - share : 0, 12);
      }),
    );
  });

  it('ends early where an answer never ends', () => {
    expect(scoreAnls('x'.repeat(3_000_000), ['x'.repeat(4_000), 'y'])).toBe(0);
    expect(scoreAnls('x'.repeat(7_999), ['x'.repeat(4_000)])).toBeCloseTo(4_000 / 7_999, 12);
    expect(scoreAnls('x'.repeat(8_000), ['x'.repeat(4_000)])).toBe(0);
    expect(scoreAnls(' a '.repeat(300_000), ['a a'])).toBe(0);
    expect(answerIn('<answer>'.repeat(200_000))).toHaveLength(1_600_000);
    expect(answerIn(`${'<answer>a</answer>'.repeat(100_000)}b`)).toBe('a');
    expect(answerIn(`${'\u2028 '.repeat(500_000)}x\u0085`)).toBe('x');
  });
});
