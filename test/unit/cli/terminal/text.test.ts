import { describe, expect, it } from 'vitest';
import {
  closestName,
  count,
  oneLine,
  percent,
  plural,
  points,
  printable,
  suggestion,
} from '../../../../src/core/text/index.ts';
import { ago, clip, duration, fitRows, table, textWidth } from '../../../../src/report/index.ts';
import { noColors, padStart } from '../../../../src/report/layout.ts';
import { shownPath } from '../../../../src/stores/index.ts';

describe('the closest name', () => {
  const names = ['train', 'runs', 'batchSize', 'minibatchSize'];

  it.each([
    ['trian', 'train'],
    ['batch_size', 'batchSize'],
    ['BATCHSIZE', 'batchSize'],
    ['run', 'runs'],
    ['minibatchsise', 'minibatchSize'],
  ])('takes %s for %s', (typed, meant) => expect(closestName(typed, names)).toBe(meant));

  it('guesses nothing when nothing is near', () => {
    expect(closestName('zebra', names)).toBeUndefined();
    expect(suggestion('zebra', names)).toBe('');
    expect(suggestion('trian', names)).toBe(' — did you mean train?');
    expect(closestName('x', [])).toBeUndefined();
  });
});

describe('figures', () => {
  it('shows scores as percent and gains as points', () => {
    expect([percent(0.875), percent(1), percent(null), percent(-1e-17)]).toEqual(['87.5 %', '100.0 %', '–', '0.0 %']);
    expect([points(0.125), points(-0.025), points(0), points(0.0001), points(null)]).toEqual([
      '+12.5',
      '-2.5',
      '±0',
      '±0',
      '',
    ]);
  });

  it('shows times in the unit that fits', () => {
    expect([850, 9_960, 59_000, 245_000, 3_845_000].map(duration)).toEqual([
      '0.8 s',
      '10 s',
      '59 s',
      '4:05',
      '1:04:05',
    ]);
  });

  it('shows large counts shortly', () => {
    expect([7, 12_345, 123_456, 2_500_000].map(count)).toEqual(['7', '12,345', '123.5k', '2.5M']);
    expect([plural(1, 'edit'), plural(2, 'edit')]).toEqual(['1 edit', '2 edits']);
  });

  it('says how long ago something was', () => {
    const now = new Date('2030-01-10T12:00:00Z');
    const times = ['2030-01-10T11:59:30Z', '2030-01-10T11:15:00Z', '2030-01-09T12:00:00Z', '2030-01-01T00:00:00Z'];
    expect(times.map((time) => ago(new Date(time), now))).toEqual(['just now', '45 min ago', '24 h ago', '9 days ago']);
  });
});

describe('text in columns', () => {
  it('counts columns, not characters', () => {
    expect(textWidth('\x1b[31mred\x1b[39m')).toBe(3);
    expect(textWidth('日本')).toBe(4);
    expect(textWidth('e\u0301')).toBe(1);
    expect(padStart('日', 4)).toBe('  日');
  });

  it('cuts a text to a width', () => {
    expect(clip('a long sentence', 8)).toBe('a long…');
    expect(clip('日本語', 5)).toBe('日本…');
    expect([clip('fits', 4), clip('no', 1), clip('no', 0)]).toEqual(['fits', '…', '']);
  });

  it('lets no text of a model move the cursor', () => {
    expect(printable('a\x1b[2Jb\td\x07\r\n\x9b31m\x00')).toBe('ab\td<U+0007>\n<U+0000>');
    expect(oneLine(' two\n\tlines ')).toBe('two lines');
  });

  it('shows what would hide or turn the writing round', () => {
    expect(printable('max\u200bCalls \u202efdp.exe \u{e0041}')).toBe('max<U+200B>Calls <U+202E>fdp.exe <U+E0041>');
    expect(printable('⚠\ufe0f take care')).toBe('⚠ take care');
  });

  it('wraps a row in its width, however far it is indented', () => {
    const far = ' '.repeat(100);
    for (const text of [`${far}many words that do not fit`, `${far}--flag  what it does in many words`])
      for (const line of fitRows(text, 40).split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(40);
    expect(fitRows(`${' '.repeat(1_000_000)}\x01`, 40).trim()).toBe('\x01');
  });

  it('takes a carriage return for a part of its row', () => {
    expect(fitRows('  --flag  some words and more\r', 24)).toBe('  --flag  some words and\n          more\r');
    const row = 'a  '.repeat(300_000);
    expect(fitRows(`${row}b\r`, 40).split('\n')[0]).toMatch(/^a {2}a/);
  });

  it('shows a path as one would type it', () => {
    expect([shownPath('/a/b/c', '/a'), shownPath('/x/y', '/a'), shownPath('/a', '/a')]).toEqual(['b/c', '/x/y', '/a']);
  });
});

describe('a table', () => {
  const columns = [
    { title: 'name', isElastic: true },
    { title: 'score', align: 'right' as const },
  ];
  const rows = [
    ['a rather long name for a run', '12.5 %'],
    ['short', '100.0 %'],
  ];

  it('aligns its columns', () => {
    expect(table(columns, rows, { width: 80, colors: noColors }).join('\n')).toMatchInlineSnapshot(`
      "name                            score
      a rather long name for a run   12.5 %
      short                         100.0 %"
    `);
  });

  it('stays within its width, however narrow', () => {
    for (const width of [80, 40, 24, 20, 12, 6]) {
      for (const line of table(columns, rows, { width, colors: noColors }))
        expect(textWidth(line)).toBeLessThanOrEqual(width);
    }
    expect(table(columns, rows, { width: 24, colors: noColors }).join('\n')).toMatchInlineSnapshot(`
      "name               score
      a rather long…    12.5 %
      short            100.0 %"
    `);
  });

  it('cuts a name of a million letters as it cuts a long one', () => {
    const shown = (name: string) => table(columns, [[name, '1']], { width: 40, colors: noColors });
    expect(shown('a'.repeat(1_000_000))).toEqual(shown('a'.repeat(100)));
  });

  it('has no title line when no column has a title', () => {
    expect(table([{ title: '' }], [['x']], { width: 10, colors: noColors })).toEqual(['x']);
  });
});
