import { countTokens as reference } from 'gpt-tokenizer/encoding/o200k_base';
import { skillHash } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { createTextMemo, sliceText } from '../../../src/models/tokens/count-tokens.ts';
import { countMessages, countTokens } from '../../../src/public/models.ts';

const prose = 'Answer with the name of the city alone, in 3 words or fewer.\n\n- Mind the *spelling*:  "Reykjavík"!\n';

it.each([
  ['', 0],
  ['hello world', 2],
])('counts %j as %i', async (text, tokens) => {
  expect(await countTokens(text)).toBe(tokens);
});

it.each([1, 20, 500])('counts %i paragraphs as the tokenizer does', async (times) => {
  const text = prose.repeat(times);
  expect(await countTokens(text)).toBe(reference(text));
});

it('counts special tokens as the text they are', async () => {
  expect(await countTokens('a <|endoftext|> b')).toBeGreaterThan(5);
});

it.each(['a', ' ', '=', '\n', '漢', '😀'])('counts fifty thousand times %j in slices', async (letter) => {
  const sample = reference(letter.repeat(480)) / 480;
  const tokens = await countTokens(letter.repeat(50_000));
  expect(tokens / 50_000).toBeGreaterThanOrEqual(sample * 0.9);
  expect(tokens / 50_000).toBeLessThanOrEqual(sample * 1.3);
});

it('counts fifty thousand characters of base64 as the tokenizer does, but for the cuts', async () => {
  const bytes = Array.from({ length: 4_688 }, (_, index) => skillHash(`${index}`)).join('');
  const text = Buffer.from(bytes, 'hex').toString('base64');
  const [tokens, exact] = [await countTokens(text), reference(text)];
  expect(tokens).toBeGreaterThanOrEqual(exact);
  expect(tokens).toBeLessThanOrEqual(exact + 2 * sliceText(text).length);
  expect(await countTokens(text)).toBe(tokens);
});

it('adds to messages what a chat format puts round them', async () => {
  expect(await countMessages([])).toBe(3);
  const messages = [
    { role: 'system' as const, content: 'hello world' },
    { role: 'user' as const, content: 'hello world' },
  ];
  expect(await countMessages(messages)).toBe(3 + 2 * (4 + 2));
});

describe('slices', () => {
  it('are the text again, put together', () => {
    for (const text of ['', 'a', prose.repeat(30), 'x'.repeat(1_201), '😀'.repeat(700), ' '.repeat(1_000)]) {
      expect(sliceText(text).join('')).toBe(text);
    }
  });

  it('are no longer than they may be, and cut before a space', () => {
    expect(sliceText('one two three', 8)).toEqual(['one two', ' three']);
    expect(sliceText('abcdefgh', 3)).toEqual(['abc', 'def', 'gh']);
  });

  it('leave pairs of surrogates whole', () => {
    expect(sliceText('a😀😀', 2)).toEqual(['a', '😀', '😀']);
  });
});

describe('the memo', () => {
  it('forgets what was longest not asked for', () => {
    const memo = createTextMemo({ maxCharacters: 6 });
    memo.set('aaa', 1);
    memo.set('bbb', 2);
    expect(memo.get('aaa')).toBe(1);
    memo.set('ccc', 3);
    expect([memo.get('aaa'), memo.get('bbb'), memo.get('ccc')]).toEqual([1, undefined, 3]);
  });

  it('keeps no text that is longer than all it may keep', () => {
    const memo = createTextMemo({ maxCharacters: 6 });
    memo.set('aaa', 1);
    memo.set('b'.repeat(7), 2);
    expect([memo.get('aaa'), memo.get('b'.repeat(7))]).toEqual([1, undefined]);
  });

  it('counts the characters of a text once', () => {
    const memo = createTextMemo({ maxCharacters: 6 });
    for (let i = 0; i < 5; i++) memo.set('aaa', 1);
    memo.set('bbb', 2);
    expect(memo.get('aaa')).toBe(1);
  });
});
