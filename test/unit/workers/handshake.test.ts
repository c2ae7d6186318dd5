import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { differences, type Fingerprint, queueName } from '../../../src/workers/handshake.ts';

const of = (parts: Fingerprint['parts']): Fingerprint => ({ project: 'shop', parts });

describe('what two machines must have in common', () => {
  it('is named where it differs, also what one side alone has', () => {
    const run = of({ 'version of skillopt': '1', 'env.mjs': 'a', 'rules.mjs': 'b', 'package-lock.json': 'c' });
    const worker = of({ 'version of skillopt': '1', 'env.mjs': 'a', 'rules.mjs': 'other', 'more.mjs': 'd' });
    expect(differences(run, worker)).toEqual(['more.mjs', 'package-lock.json', 'rules.mjs']);
  });

  it('gives the queue its name: the same parts in any order, and only those', () => {
    const parts = fc.dictionary(fc.string(), fc.string(), { maxKeys: 6 });
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const isSame = differences(of(one), of(other)).length === 0;
        expect(queueName(of(one)) === queueName(of(other))).toBe(isSame);
        const turned = Object.fromEntries(Object.entries(one).reverse());
        expect(queueName(of(turned))).toBe(queueName({ project: 'another name', parts: one }));
      }),
    );
  });
});
