import { extractAnswer, normalizeAnswer, scoreAnswer, tokenF1 } from 'skillopt/envs';
import { describe, expect, test } from 'vitest';

describe('normalizeAnswer', () => {
  test.each([
    ['The  U.S.A., a   test!', 'usa test'],
    ['An apple and the pear', 'apple and pear'],
    ['theatre anthem', 'theatre anthem'],
    ["the cat's\tpyjamas\n", 'cats pyjamas'],
    ['“the” end', '“ ” end'],
    ['', ''],
  ])('reads %j as %j', (text, normal) => {
    expect(normalizeAnswer(text)).toBe(normal);
  });

  test('keeps an "a" that belongs to a word with letters outside ASCII', () => {
    expect(normalizeAnswer('El año, à la carte')).toBe('el año à la carte');
  });

  test('keeps punctuation outside ASCII', () => {
    expect(normalizeAnswer('3 – 4 €')).toBe('3 – 4 €');
  });
});

describe('scoreAnswer', () => {
  test('gives full marks for any of the gold answers, whatever the case, punctuation and articles', () => {
    expect(scoreAnswer('the pacific.', ['Pacific Ocean', 'Pacific'])).toEqual({ hard: 1, soft: 1 });
  });

  test('gives partial credit by the nearest gold answer', () => {
    expect(scoreAnswer('New York City', ['New York', 'NYC'])).toEqual({ hard: 0, soft: 0.8 });
  });

  test('does not take an answer for right because it contains the gold one', () => {
    expect(scoreAnswer('Paris or Lyon, not sure', ['Paris']).hard).toBe(0);
    expect(scoreAnswer('Paris', ['Paris, Texas']).hard).toBe(0);
  });

  test('takes two articles for equal, since nothing is left of either', () => {
    expect(scoreAnswer('the', ['a'])).toEqual({ hard: 1, soft: 1 });
  });

  test('gives nothing for an empty answer to a question that has one', () => {
    expect(scoreAnswer('', ['Paris'])).toEqual({ hard: 0, soft: 0 });
  });
});

describe('tokenF1', () => {
  test('counts a repeated word as often as it stands in both texts', () => {
    expect(tokenF1('ha ha ha', 'ha')).toBe(0.5);
    expect(tokenF1('ha ha', 'ha ha ho')).toBe(0.8);
  });

  test('is 1 for two empty texts and 0 for one', () => {
    expect(tokenF1('', '')).toBe(1);
    expect(tokenF1('', 'x')).toBe(0);
    expect(tokenF1('x', '')).toBe(0);
  });
});

describe('extractAnswer', () => {
  test.each([
    ['the last tag wins', '<answer>Lyon</answer> no, <answer>Paris</answer>.', 'Paris'],
    ['case does not matter and lines may break', 'So:\n<ANSWER>\n 12\n 13 \n</Answer>', '12\n 13'],
    ['a tag that is only mentioned is passed over', 'I use the <answer> tag: <answer>Paris</answer>', 'Paris'],
    ['an empty answer is an answer', 'Paris\n<answer></answer>', ''],
    ['without tags the last line that is not empty', 'Let me think.\r\n\r\n  Paris \r\n\n', 'Paris'],
    ['an open tag is no tag', 'Well\n<answer>Paris', '<answer>Paris'],
    ['nothing at all', ' \n', ''],
  ])('%s', (_, reply, answer) => {
    expect(extractAnswer(reply)).toBe(answer);
  });
});
