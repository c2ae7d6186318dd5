import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { searchPattern } from '../../src/core/judge/index.ts';
import { PatternError } from '../../src/core/judge/regex/compile-pattern.ts';
import { includesText } from '../../src/core/text/index.ts';

/** Pieces that mean the same in Python and in JavaScript's `u` mode, on texts without newlines and with letters of ASCII. */
const atom = fc.constantFrom('a', 'b', '1', '\\.', '[ab]', '[^a]', '[a-c1]', '.', '\\d', '\\W', '\\b', '\\B', '^', '$');
const repeated = fc.tuple(
  fc.constantFrom('a', 'b', '[ab]', '.', '\\w'),
  fc.constantFrom('', '*', '+', '?', '*?', '{2}', '{1,2}', '{2,}', '{0,3}?'),
);

const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    atom,
    repeated.map(([body, count]) => `${body}${count}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `${one}${other}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(?:${one}|${other})`),
    fc.tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}')).map(([body, count]) => `(${body})${count}`),
  ),
}));
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '.', ' ', '😀'), maxLength: 12 });

it('finds what a backtracking engine finds, wherever the two languages agree', () => {
  fc.assert(
    fc.property(pattern, text, fc.constantFrom('', 'i', 's'), (source, subject, flag) => {
      const prefix = flag === '' ? '' : `(?${flag})`;
      // In Python neither assertion about words holds in an empty text; JavaScript looks for \B inside a character too.
      fc.pre(subject !== '' && !(subject.includes('😀') && source.includes('\\B')));
      expect(searchPattern(`${prefix}${source}`, subject)).toBe(new RegExp(source, `u${flag}`).test(subject));
    }),
    { numRuns: 2_000 },
  );
});

type PythonAnswer = { pattern: string; error?: string; found?: string[]; missed?: string[] };
const pythonAnswers = readFileSync('test/fixtures/python-patterns/answers.jsonl', 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as PythonAnswer);

it('finds what Python found, and refuses what Python refuses', () => {
  for (const { pattern, error, found = [], missed = [] } of pythonAnswers) {
    if (error !== undefined) expect(() => searchPattern(pattern, ''), `${pattern}: ${error}`).toThrow(PatternError);
    for (const text of found) expect([pattern, text, searchPattern(pattern, text)]).toEqual([pattern, text, true]);
    for (const text of missed) expect([pattern, text, searchPattern(pattern, text)]).toEqual([pattern, text, false]);
  }
});

it('reads any text as a pattern or says why not', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab(){}[]|*+?^$\\.-,:<>!=P#1i😀'), maxLength: 12 }), (source) => {
      try {
        expect(typeof searchPattern(source, 'ab1')).toBe('boolean');
      } catch (error) {
        expect((error as Error).name).toBe('PatternError');
      }
    }),
    { numRuns: 3_000 },
  );
});

it('finds a long text in another as the built-in search does', () => {
  const repetitive = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(repetitive, repetitive, fc.nat(300), fc.nat(9), (one, other, start, end) => {
      const text = `${one.repeat(200)}${other.repeat(200)}`;
      const wanted = text.slice(start, start + 150) + (end === 0 ? 'c' : '');
      expect(includesText(text, wanted)).toBe(text.includes(wanted));
    }),
  );
});
