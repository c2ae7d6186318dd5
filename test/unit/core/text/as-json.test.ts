import fc from 'fast-check';
import { expect, it } from 'vitest';
import { asJson } from '../../../../src/core/text/index.ts';

const roundTrip = (value: unknown): unknown => {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
};

const anything = fc.anything({
  ...{ withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true, withBoxedValues: true },
});

it('is what JSON would give back, whatever the value', () => {
  fc.assert(
    fc.property(anything, (value) => {
      expect(asJson(value)).toStrictEqual(roundTrip(value));
    }),
  );
});

it.each([
  ['a function among values', { run: () => 1, list: [() => 1, undefined, Symbol('a')], kept: 1 }],
  ['numbers that JSON does not know', [-0, Number.NaN, Number.POSITIVE_INFINITY]],
  ['a name that is a setter elsewhere', JSON.parse('{"__proto__": {"a": 1}}')],
  ['an object that says itself what it is', { when: { toJSON: () => ({ at: [1] }) } }],
])('knows %s', (_, value) => {
  expect(asJson(value)).toStrictEqual(roundTrip(value));
});

it('shares nothing that can be changed', () => {
  const value = { list: [{ deep: 1 }] };
  const copy = asJson(value) as typeof value;
  copy.list[0]!.deep = 2;
  expect(value.list[0]!.deep).toBe(1);
});
