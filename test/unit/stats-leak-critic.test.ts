import { describe, expect, it } from 'vitest';
import { findLeaks, type GuardedItem } from '../../src/core/stats/index.ts';

const item = (split: GuardedItem['split'], id: string, text: string, ...answers: string[]): GuardedItem => ({
  id,
  split,
  texts: [text],
  answers,
});

const items = [
  item('train', 'train-001', 'Which river flows through the old city of Verona?', 'Adige'),
  item('train', 'train-002', 'Name the tallest building on the harbour in Rotterdam.', 'Zalmhaven'),
  item('val', 'val-017', 'Who painted the ceiling of the small chapel in Padua?', 'Giotto'),
  item('val', 'val-018', 'What is the answer to six times nine, in words?', 'fifty-four', '54'),
  item('val', 'val-019', 'Reply with yes or no: is Verona in Italy?', 'yes'),
  item('test', 'test-003', 'Reply with yes or no: is Padua in Spain?', 'no', 'yes'),
  item('test', 'test-004', '请用一句话说明京都最古老的木造寺院的名字和年代', '法隆寺'),
];
const leaks = (edit: string, more = {}) => findLeaks({ edit, items, ...more });

describe('the leak critic', () => {
  it('lets a rule pass', () => {
    expect(leaks('Answer in one line. Check units, and say yes or no first when asked.')).toMatchObject({
      isRefused: false,
      reason: undefined,
      findings: [],
      memorisedShare: 0,
    });
  });

  it.each([
    ['an id', 'Take care with VAL-017.', { kind: 'id', id: 'val-017' }],
    ['an answer', 'When it is about chapels, say “giotto”.', { kind: 'answer', id: 'val-017' }],
    ['an answer of two words', 'It may be Fifty Four.', { kind: 'answer', id: 'val-018' }],
    ['words in a row', 'If asked who painted the ceiling of something, think.', { kind: 'phrase', id: 'val-017' }],
    ['an answer without spaces', '答案是法隆寺。', { kind: 'answer', id: 'test-004' }],
  ])('refuses %s of a held-out item and says which', (_, edit, finding) => {
    const report = leaks(edit);
    expect(report).toMatchObject({ isRefused: true, findings: [finding] });
    expect(report.reason).toContain(finding.id);
  });

  it('finds words in a row wherever they stand, in any script', () => {
    const words = 'Who painted the ceiling of the small chapel in Padua'.split(' ');
    for (let start = 0; start + 5 <= words.length; start++) {
      const found = leaks(`Ask: ${words.slice(start, start + 5).join(' ')}!`).findings;
      expect(found).toMatchObject([{ kind: 'phrase', id: 'val-017' }]);
      expect(leaks(`Ask: ${words.slice(start, start + 4).join(' ')}!`).findings).toEqual([]);
    }
    expect(leaks('说明京都最古老的木造寺').findings).toMatchObject([{ kind: 'phrase', id: 'test-004' }]);
    expect(leaks('请用一句话说明京都').findings).toEqual([]);
  });

  it('allows what several items share, and what the contract holds', () => {
    expect(leaks('Reply with yes or no: is it so?').isRefused).toBe(false);
    expect(leaks('Say Giotto.', { contract: ['Painters are Giotto and Masaccio.'] }).isRefused).toBe(false);
  });

  it('does not find a name inside another word, nor a small number', () => {
    expect(leaks('Giottoesque answers in at most 54 words.').isRefused).toBe(false);
  });

  it('reports what is memorised of training items, and refuses it beyond a limit', () => {
    const edit = 'The river of Verona is the Adige.';
    expect(leaks(edit)).toMatchObject({ isRefused: false, memorisedShare: 0.5, memorised: [{ id: 'train-001' }] });
    expect(leaks(edit, { maxMemorisedShare: 0.5 }).isRefused).toBe(false);
    expect(leaks(edit, { maxMemorisedShare: 0.4 }).reason).toContain('50 % of the training items');
  });

  it('has an answer for an empty edit and no items', () => {
    expect(leaks('').isRefused).toBe(false);
    expect(findLeaks({ edit: 'Anything.', items: [] })).toMatchObject({ isRefused: false, memorisedShare: 0 });
  });
});
