import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyEditRecords,
  applyPatch,
  EditRecord,
  MARKERS,
  pruneRules,
  readLearned,
  readRules,
  toEdits,
  writeLearned,
  writeRules,
} from '../../../../src/core/document/index.ts';

const { start, end } = MARKERS.learned;
const edit = (fields: Partial<EditRecord>) => EditRecord.parse(fields);
const resultOf = (rules: readonly string[], ...edits: Partial<EditRecord>[]) => {
  const result = applyEditRecords(writeRules(rules), edits.map(edit));
  return { rules: readRules(result.block), applied: result.applied.length, unmatched: result.unmatched.length };
};

describe('edits of learned rules', () => {
  it('fact 16: adding what is said already, whatever its case and spaces, is unmatched', () => {
    expect(resultOf(['Use foo'], { op: 'add', content: 'use   FOO' })).toEqual({
      rules: ['Use foo'],
      applied: 0,
      unmatched: 1,
    });
    expect(resultOf(['Use foo'], { content: '  ' }).unmatched).toBe(1);
  });

  it('fact 17: without an op it is add, and its case does not count', () => {
    expect(resultOf([], { op: '', content: 'A' }, { op: 'ADD', content: 'B' }).rules).toEqual(['A', 'B']);
    expect(resultOf(['A'], { op: 'explode', content: 'B', anchor: 'A' }).unmatched).toBe(1);
  });

  it('fact 18: delete without an anchor does nothing, with content alone it works', () => {
    expect(resultOf(['A', 'B'], { op: 'delete' })).toEqual({ rules: ['A', 'B'], applied: 0, unmatched: 1 });
    expect(resultOf(['A', 'B'], { op: 'delete', content: 'a' }).rules).toEqual(['B']);
  });

  it('fact 19: replace finds the rule by a part of it; the same text again is unmatched', () => {
    const rules = ['Use foo', 'keep bar'];
    expect(resultOf(rules, { op: 'replace', anchor: 'o', content: 'Z' }).rules).toEqual(['Z', 'keep bar']);
    expect(resultOf(rules, { op: 'replace', anchor: 'o', content: 'Use foo' }).unmatched).toBe(1);
  });

  it('fact 20: a rule of two lines is read back whole', () => {
    expect(resultOf([], { content: 'A\nB' }).rules).toEqual(['A\nB']);
    expect(resultOf([], { content: 'A\nB' }, { op: 'delete', anchor: 'b' }).rules).toEqual([]);
  });

  it('fact 21: add, replace and delete leave the block as it was', () => {
    for (const block of ['', '- A', '# Learned\n\n- A\n  more\n\nThe end.\n']) {
      const edits = [{ content: 'X' }, { op: 'replace', anchor: 'x', content: 'Y' }, { op: 'delete', anchor: 'y' }];
      const result = applyEditRecords(block, edits.map(edit));
      expect([result.block, result.applied.length]).toEqual([block, 3]);
    }
  });

  it('23: an anchor that several rules contain names none of them', () => {
    const rules = ['Use npm ci', 'Use npm test', 'Use'];
    expect(resultOf(rules, { op: 'delete', anchor: 'npm' })).toEqual({ rules, applied: 0, unmatched: 1 });
    expect(resultOf(rules, { op: 'delete', anchor: 'use' }).rules).toEqual(['Use npm ci', 'Use npm test']);
  });

  it('23: a delete without content is read, and leading dashes are kept', () => {
    expect(EditRecord.parse({ op: 'delete', anchor: 'A' })).toMatchObject({
      op: 'delete',
      content: '',
      target: 'skill',
    });
    expect(resultOf([], { content: '--json is for machines' }).rules).toEqual(['--json is for machines']);
    expect(resultOf([], { content: '- --json is for machines' }).rules).toEqual(['--json is for machines']);
  });

  it('23: beyond the cap whole rules go, the least supported and oldest first', () => {
    const rules = ['old', 'liked\nin two lines', 'new'];
    expect(pruneRules(rules, { maxRules: 2 })).toEqual({ rules: rules.slice(1), pruned: ['old'] });
    const supportOf = (rule: string) => (rule === 'new' ? 0 : 1);
    expect(pruneRules(rules, { maxRules: 2, supportOf }).pruned).toEqual(['new']);
    expect(pruneRules(rules, { maxTokens: 3, tokensOf: () => 2 }).rules).toEqual(['new']);
  });

  it('replaces by what another rule says already by leaving one of them', () => {
    expect(resultOf(['A', 'B'], { op: 'replace', anchor: 'B', content: 'a' }).rules).toEqual(['A']);
  });
});

const line = fc.constantFrom(
  'Use foo',
  'use foo',
  'foo',
  '--json',
  '- x',
  '* y',
  '1. z',
  '  deep',
  'a  b',
  '```',
  '# h',
  '$&',
);
const rule = fc
  .array(fc.oneof(line, fc.constant('')), { minLength: 1, maxLength: 4 })
  .map((lines) => lines.join('\n').trim());
const rules = fc.array(
  rule.filter((text) => text !== ''),
  { maxLength: 6 },
);
const record = fc.record({
  op: fc.constantFrom('add', 'replace', 'delete', '', 'other'),
  content: fc.oneof(rule, line),
  anchor: fc.oneof(rule, line, fc.constantFrom('o', '')),
});

describe('the list of learned rules', () => {
  it('23: reads back every rule that was written, whole', () => {
    fc.assert(fc.property(rules, (written) => void expect(readRules(writeRules(written))).toEqual(written)));
  });

  it('becomes the same by edits of the text as by edits of the list', () => {
    const check = (written: readonly string[], records: readonly Partial<EditRecord>[]) => {
      const [block, edits] = [writeRules(written), records.map(edit)];
      const expected = readRules(applyEditRecords(block, edits).block);
      expect(readRules(applyPatch(block, { edits: toEdits(edits, block) }))).toEqual(expected);
    };
    fc.assert(fc.property(rules, fc.array(record, { maxLength: 5 }), check), { numRuns: 500 });
  });

  it('has the same number of rules whatever stands round them', () => {
    expect(readRules('# Learned\n\n- A\n  a\n\n  b\n- B\nlazy\n\nProse.\n- C\n## More\n')).toEqual([
      'A\na\n\nb',
      'B\nlazy',
      'C',
    ]);
  });
});

describe('the learned block of a document', () => {
  it('fact 22: is empty when the end comes before the start, or is missing', () => {
    expect(readLearned(`${end}\n- A\n${start}`)).toBe('');
    expect(readLearned(`${start}\n- A`)).toBe('');
    expect(readLearned(`${start}\n- A\n${end}`)).toBe('- A');
  });

  it('fact 23: markers that lost their other half stay, and nothing behind them is dropped', () => {
    const document = `Mine.\n${start}\nalso mine\n`;
    expect(writeLearned(document, '- A')).toBe(`${document}\n${start}\n- A\n${end}\n`);
    expect(readLearned(writeLearned(document, '- A'))).toBe('- A');
  });

  it('22: hand-written text stays byte for byte, the block stays at its place', () => {
    const piece = fc.constantFrom(
      'text',
      '\n',
      '\r\n',
      '\n\n\n\n',
      ' ',
      '- A',
      '---\n',
      start,
      end,
      '<!-- mine -->',
      '\ufeff',
      '😀',
      '\t',
    );
    const hand = fc.array(fc.oneof(piece, fc.string()), { maxLength: 12 }).map((pieces) => pieces.join(''));
    const check = (document: string, first: string, second: string) => {
      const once = writeLearned(document, first);
      const twice = writeLearned(once, second);
      const around = once.split(`${start}\n${first}\n${end}`);
      expect(around).toHaveLength(2);
      expect(twice).toBe(around.join(`${start}\n${second}\n${end}`));
      if (!document.includes(end)) expect(once.startsWith(document)).toBe(true);
    };
    fc.assert(fc.property(hand, fc.constantFrom('- one', '- two\n  lines'), fc.constant('- other'), check), {
      numRuns: 500,
    });
  });
});
