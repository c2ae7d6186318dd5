import { describe, expect, it } from 'vitest';
import { head, roundHalfToEven, rstrip, strip } from '../../../../src/core/text/index.ts';

describe('strip and rstrip', () => {
  it('take the whitespace of Python', () => {
    const space = '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000';
    expect(strip(`${space}a b${space}`)).toBe('a b');
    expect(rstrip(`${space}a${space}`)).toBe(`${space}a`);
    expect(strip(space)).toBe('');
  });

  it('leave what only JavaScript calls whitespace', () => {
    expect(strip('\ufeffa\ufeff')).toBe('\ufeffa\ufeff');
    expect(rstrip('a\u200b')).toBe('a\u200b');
  });

  it('are quick on long blanks that end in text', () => {
    const text = `a${' '.repeat(200_000)}b`;
    expect(rstrip(text)).toBe(text);
  });
});

describe('head', () => {
  it('counts code points and splits none', () => {
    expect(head('abc', 2)).toBe('ab');
    expect(head('a🙂🙂', 2)).toBe('a🙂');
    expect(head('🙂🙂🙂', 2)).toBe('🙂🙂');
    expect(head('abc', 3)).toBe('abc');
    expect(head('abc', 0)).toBe('');
  });
});

describe('roundHalfToEven', () => {
  it.each([
    [0.5, 0],
    [1.5, 2],
    [2.5, 2],
    [3.5, 4],
    [-1.5, -2],
    [-2.5, -2],
    [2.4999, 2],
    [2.5001, 3],
    [7, 7],
  ])('rounds %d to %d', (value, rounded) => {
    expect(roundHalfToEven(value)).toBe(rounded);
  });
});
