import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSkill } from '../../src/app/scoring/evaluate.ts';
import { bucketScores, type RolloutResult, toEvaluation } from '../../src/core/contracts/index.ts';
import { junitText, type ScoredDocument } from '../../src/report/index.ts';
import { isMissing } from '../support/machine.ts';

const cost = { calls: 3, tokens: 5, costUsd: 0.01, isPriced: true };
const METRIC = { gateMetric: 'hard', gateMixedWeight: 0.5 } as const;

function scored(document: string, split: string, results: readonly RolloutResult[]): ScoredDocument {
  const evaluation = toEvaluation(results);
  const whole = { evaluation, results, buckets: bucketScores(evaluation.scores) };
  const none = { testLooks: undefined, taskTypes: [], version: undefined };
  return { document, text: '', splits: { [split]: whole }, whole, cost, ...none };
}

function xmlOf(document: string, split: string, results: readonly RolloutResult[]): string {
  const side = scored(document, split, results);
  const check = checkSkill({ scored: side, baseline: side, minScore: 0.5, config: {} });
  return junitText({ split, scored: side, baseline: side, check }, METRIC);
}

/** Any text: all of Unicode, lone surrogates, control characters, and what XML itself is made of. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom(']]>', '<![CDATA[', '&amp;', '&#0;', '</testcase>', '\u0000\u001b[2J', '\ufffe\uffff', '\r\n\t"\''),
);

const result = fc.record(
  {
    id: text,
    hard: fc.constantFrom(0, 1),
    soft: fc.constantFrom(0, 0.5, 1),
    taskType: text,
    failReason: text,
    question: text,
    referenceText: text,
    predictedAnswer: text,
    errored: fc.boolean(),
  },
  { requiredKeys: ['id', 'hard', 'soft'] },
) as fc.Arbitrary<RolloutResult>;

const REFERENCE = /&#(?:9|10|13|34|38|39|60|62);/g;

describe('JUnit of any texts', () => {
  it('is well-formed: every sign of XML is one of ours, every character is allowed, and every element is closed', () => {
    fc.assert(
      fc.property(text, text, fc.array(result, { maxLength: 8 }), (document, split, results) => {
        const xml = xmlOf(document, split, results);
        expect(xml).not.toMatch(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u);
        const bare = xml.replace(REFERENCE, '').replace(/^<\?xml version="1.0" encoding="UTF-8"\?>\n/, '');
        expect(bare).not.toContain('&');
        const open: string[] = [];
        const rest = bare.replace(
          /<(\/?)([a-z]+)((?: [a-zA-Z]+="[^"<]*")*)(\/?)>/g,
          (_, end, name, _attributes, alone) => {
            if (end) expect(open.pop()).toBe(name);
            else if (!alone) open.push(name);
            return '';
          },
        );
        expect([open, /[<>]/.test(rest)]).toEqual([[], false]);
        expect(bare.match(/<testcase /g) ?? []).toHaveLength(results.length);
      }),
      { numRuns: 300 },
    );
  });

  it.skipIf(isMissing('python3'))('is read by a parser of another house, which finds each task by its name', () => {
    const samples = fc.sample(fc.array(result, { minLength: 1, maxLength: 6 }), { numRuns: 40, seed: 1 });
    const texts = samples.map((results) => xmlOf('S', 'test', results));
    const program = `
import json, sys, xml.etree.ElementTree as tree
texts = json.load(sys.stdin)
print(json.dumps([[case.get('name') for case in tree.fromstring(text.encode()).iter('testcase')] for text in texts]))`;
    const { stdout, stderr } = spawnSync('python3', ['-c', program], {
      input: JSON.stringify(texts),
      encoding: 'utf8',
    });
    const allowed = (id: string) =>
      id.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd');
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(samples.map((results) => results.map(({ id }) => allowed(id))));
  });
});
