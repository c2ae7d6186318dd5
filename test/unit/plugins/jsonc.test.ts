import { describe, expect, it } from 'vitest';
import { insertKey, parseJsonc } from '../../../src/plugins/jsonc.ts';
import { bytesBefore, changesBetween } from '../../../src/plugins/settings-files.ts';

const insert = (text: string) => insertKey(text, ['mcp', 'skillopt'], { on: true });

describe('one key in JSON with comments', () => {
  it.each([
    ['{}', '{\n  "mcp": { "skillopt": {"on":true} }}'],
    ['{"a":1}', '{\n  "mcp": { "skillopt": {"on":true} },"a":1}'],
    ['// "mcp": {\n{ "mcp": {} }', '// "mcp": {\n{ "mcp": {\n    "skillopt": {"on":true}} }'],
    [
      '{ "a": {"mcp": {}}, /* { */ "mcp": {"b": "\\"}"}, }',
      '{ "a": {"mcp": {}}, /* { */ "mcp": {\n    "skillopt": {"on":true},"b": "\\"}"}, }',
    ],
    [
      '{ "a": "mcp", "mcp": { // mine\n "b": [1,],\n}}',
      '{ "a": "mcp", "mcp": {\n    "skillopt": {"on":true}, // mine\n "b": [1,],\n}}',
    ],
  ])('is inserted into %s', (before, after) => {
    const { text, inserted } = insert(before)!;
    expect(text).toBe(after);
    expect(text.replace(inserted, '')).toBe(before);
    expect(parseJsonc(text)).toMatchObject({ mcp: { skillopt: { on: true } } });
  });

  it.each(['{"mcp":{"skillopt":1}}', '{"mcp":[]}', '[]', '"mcp"', '{"mcp": null}'])(
    'is not inserted into %s',
    (text) => {
      expect(insert(text)).toBe(undefined);
    },
  );
});

describe('the way back of settings', () => {
  it('leads to the bytes of before, whatever they are, and holds none of the words that stay', () => {
    const before = Buffer.from([...Buffer.from('{\r\n\t"key": "abc",\n "list":[1,2]}'), 0xff, 0x00]);
    const after = Buffer.from('{\n  "key": "abc",\n  "list": [\n    1,\n    2\n  ],\n  "plugin": true\n}');
    const [file] = changesBetween(new Map([['a', before]]), new Map([['a', after]]));
    expect(bytesBefore(file!, after)).toEqual(before);
    expect(JSON.stringify(file)).not.toContain('abc');
    expect(bytesBefore(file!, Buffer.from(`x${after}`))).toBe(undefined);
  });

  it('is not kept where it would hold what looks like a key', () => {
    const before = Buffer.from('a sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 b');
    const [file] = changesBetween(new Map([['a', before]]), new Map([['a', Buffer.from('b a')]]));
    expect(file!.back).toEqual([]);
    expect(bytesBefore(file!, Buffer.from('b a'))).toBe(undefined);
  });
});
