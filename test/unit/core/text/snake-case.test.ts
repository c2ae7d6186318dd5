import { describe, expect, it } from 'vitest';
import { toCamelCase, toSnakeCase } from '../../../../src/core/text/index.ts';

const inside = {
  nTurns: 2,
  edits: [{ supportCount: 3, sourceType: 'failure' }],
  rankingDetails: { selectedIndices: [1] },
};
const outside = {
  n_turns: 2,
  edits: [{ support_count: 3, source_type: 'failure' }],
  ranking_details: { selected_indices: [1] },
};

describe('the border codec', () => {
  it('writes snake_case outwards and camelCase inwards, at every depth', () => {
    expect(toSnakeCase(inside)).toEqual(outside);
    expect(toCamelCase(outside)).toEqual(inside);
  });

  it('leaves alone what belongs to the user', () => {
    const mine = { extras: { myKey: 1 }, conversation: [{ toolName: 'x' }], buckets: { 'my-Type': 1 } };
    const theirs = { extras: { my_key: 1 }, conversation: [{ tool_name: 'x' }], buckets: { my_type: 1 } };
    expect(toSnakeCase(mine)).toEqual(mine);
    expect(toCamelCase(theirs)).toEqual(theirs);
  });

  it('changes keys and never values', () => {
    expect(toSnakeCase({ op: 'insertAfter', content: 'someText' })).toEqual({ op: 'insertAfter', content: 'someText' });
    expect(toCamelCase({ op: 'insert_after', content: 'some_text' })).toEqual({
      op: 'insert_after',
      content: 'some_text',
    });
  });

  it.each([undefined, null, 7, 'a_b', true])('gives back %j as it is', (value) => {
    expect(toCamelCase(value)).toBe(value);
    expect(toSnakeCase(value)).toBe(value);
  });

  it('does not take an underscore at the edge for a border of words', () => {
    expect(toCamelCase({ _private: 1, trailing_: 2, a__b: 3 })).toEqual({ _private: 1, trailing_: 2, a__b: 3 });
  });

  it('treats a key that is dangerous elsewhere like any other', () => {
    const value = toCamelCase(JSON.parse('{"__proto__": {"is_admin": true}}'));
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect((value as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });
});
