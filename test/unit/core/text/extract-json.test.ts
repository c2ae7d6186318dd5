import { describe, expect, it } from 'vitest';
import { extractJson, jsonCandidates } from '../../../../src/core/text/index.ts';

const fenced = (body: string, tag = 'json') => `\`\`\`${tag}\n${body}\n\`\`\``;

describe('extractJson', () => {
  it.each([
    ['the whole text', ' {"a": 1}\n', { a: 1 }],
    ['a fenced block', `Here you are:\n${fenced('{"a": 1}')}\nDone.`, { a: 1 }],
    ['a fenced block rather than bare braces', `{"no": 1}\n${fenced('{"a": 1}')}`, { a: 1 }],
    ['the first of two fenced blocks', `${fenced('{"a": 1}')}\n${fenced('{"b": 2}')}`, { a: 1 }],
    ['a fenced block without a tag', fenced('{"a": 1}', ''), { a: 1 }],
    ['a fenced block with a shouted tag', fenced('{"a": 1}', 'JSON'), { a: 1 }],
    ['a fenced block with another tag', fenced('{"a": 1}', 'yaml'), { a: 1 }],
    ['a fence that is never closed', '```json\n{"a": 1}', { a: 1 }],
    ['an object after a broken fence', `${fenced('not JSON')}\n{"a": 1}`, { a: 1 }],
    ['an object inside prose', 'I think {"a": {"b": 1}} is it.', { a: { b: 1 } }],
    ['an object after a stray brace', 'pre } {"a": 1}', { a: 1 }],
    ['the last of duplicate keys', '{"a": 1, "a": 2}', { a: 2 }],
    ['braces inside text', '{"a": "} {"}', { a: '} {' }],
  ])('finds %s', (_, text, value) => {
    expect(extractJson(text)).toEqual(value);
  });

  it.each([
    ['nothing', ''],
    ['blanks', ' \n '],
    ['prose', 'I cannot help with that.'],
    ['a list', '[1, 2]'],
    ['a list of objects', '[{"a": 1}]'],
    ['a fenced list', fenced('[1, 2]')],
    ['a fenced list, whatever follows', `${fenced('[1, 2]')}\n{"a": 1}`],
    ['a number', '7'],
    ['null', 'null'],
    ['two objects', '{"a": 1} {"b": 2}'],
    ['an object and a stray brace', '{"a": 1}\ntrailing }'],
    ['numbers that JSON does not have', '{"a": NaN, "b": Infinity}'],
    ['a raw tab in a string', '{"a": "\t"}'],
    ['an object cut in half', '{"a": {"b": 1}, "c'],
    ['braces the wrong way round', '} {'],
  ])('finds no object in %s', (_, text) => {
    expect(extractJson(text)).toBeUndefined();
  });

  it('reads an endless fence in one pass', () => {
    const text = `\`\`\`json${'\n'.repeat(200_000)}x`;
    expect(extractJson(text)).toBeUndefined(); // minutes, if every blank were a place to start again
  });
});

describe('jsonCandidates', () => {
  it('lists the pieces that may be JSON, most likely first', () => {
    expect(jsonCandidates(`x {"a": 1}\n${fenced('{"b": 2}')} y`)).toEqual([
      `x {"a": 1}\n${fenced('{"b": 2}')} y`,
      '{"b": 2}',
      '{"a": 1}\n```json\n{"b": 2}',
    ]);
    expect(jsonCandidates(' ')).toEqual([]);
  });
});
