import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CellValue,
  isSameValue,
  kindOfFormat,
  serialValue,
} from '../../../src/benchmarks/spreadsheetbench/cell-values.ts';
import { extractCode, withoutPaths } from '../../../src/benchmarks/spreadsheetbench/code.ts';
import { compareWorkbooks } from '../../../src/benchmarks/spreadsheetbench/compare-workbooks.ts';
import { isMisnamed, pairFiles } from '../../../src/benchmarks/spreadsheetbench/find-cases.ts';
import { previewWorkbook } from '../../../src/benchmarks/spreadsheetbench/preview.ts';
import { columnName, parseRange, RULES, type Rule, rangesOf } from '../../../src/benchmarks/spreadsheetbench/ranges.ts';
import { readWorkbook, type Sheet, type Workbook } from '../../../src/benchmarks/spreadsheetbench/workbook.ts';
import { goldenCases } from '../../support/golden-cases.ts';
import { workbookFile, zipFile } from '../../support/workbook-file.ts';

type Typed = { readonly t: string; readonly v: string | number };
type GoldenValue = number | string | boolean | null | Typed;

/** What openpyxl reads, as we read it. */
function toCellValue(value: GoldenValue): CellValue | undefined {
  if (value === null) return undefined;
  if (typeof value !== 'object') return value;
  const { t: type, v } = value;
  if (type === 'float') return v === 'inf' ? Number.POSITIVE_INFINITY : Number.NaN;
  if (type === 'time') return { time: String(v) };
  if (type === 'timedelta') return { duration: Number(v) * 1e6 };
  return { date: Date.parse(`${v}Z`) / 86_400_000 + 25_569 };
}

describe('the golden cases of SpreadsheetBench', () => {
  it('say of all 53 pairs of values whether they are the same', () => {
    const cases = goldenCases<{ gold: GoldenValue; got: GoldenValue; equal: boolean }>('spreadsheet-cells');
    const differing = cases.filter(
      ({ gold, got, equal }) => isSameValue(toCellValue(gold), toCellValue(got)) !== equal,
    );
    expect([cases.length, differing]).toEqual([53, []]);
  });

  it('name the cells of all 16 ranges', () => {
    type Named = { range: string; n?: number; first?: string | null; last?: string | null; error?: string };
    const cases = goldenCases<Named>('spreadsheet-ranges');
    const read = cases.map(({ range }): Named => {
      if (!range.includes(':')) return { range, n: 1, first: range, last: range }; // taken as it is, whatever it is
      const cells = parseRange(range, { isLetter: (one) => /\p{L}/u.test(one) });
      if (cells === undefined) return { range, error: 'ValueError' };
      const { left, top, right, bottom } = cells;
      const n = Math.max(0, right - left + 1) * Math.max(0, bottom - top + 1);
      if (n === 0) return { range, n, first: null, last: null };
      return { range, n, first: columnName(left) + top, last: columnName(right) + bottom };
    });
    expect([cases.length, read]).toEqual([16, cases]);
  });

  it('find the code in all 13 replies', () => {
    const cases = goldenCases<{ reply: string; code: string; stripped: string }>('spreadsheet-code');
    const read = cases.map(({ reply }) => {
      const code = extractCode(reply);
      return { reply, code, stripped: withoutPaths(code, 'python') };
    });
    expect([cases.length, read]).toEqual([13, cases]);
  });
});

const sheetOf = (cells: Readonly<Record<string, CellValue>>): Sheet => {
  const columns = new Map<number, Map<number, CellValue>>();
  for (const [place, value] of Object.entries(cells)) {
    const { left, top } = parseRange(place, { isLetter: () => true })!;
    columns.set(left, (columns.get(left) ?? new Map()).set(top, value));
  }
  return columns;
};

const bookOf = (sheets: Readonly<Record<string, Readonly<Record<string, CellValue>>>>): Workbook => ({
  sheetNames: Object.keys(sheets),
  sheets: new Map(Object.entries(sheets).map(([name, cells]) => [name, sheetOf(cells)])),
  uncalculated: 0,
});

type Place = { readonly position: string; readonly sheet?: string };
const GOLD = { Sheet1: { A1: 'kept', B2: 2 }, 'b2b, sez, de': { A5: 7 }, Retired: { A1: 1 } };

const verdict = (place: Place, rule: Rule, got: Parameters<typeof bookOf>[0] = GOLD) => {
  const { isEqual, isError } = compareWorkbooks(bookOf(GOLD), bookOf(got), { ...place, rule });
  return isError ? 'error' : isEqual;
};

/** [right workbook, workbook with a wrong value] */
const verdicts = (place: Place, rule: Rule, wrong: Parameters<typeof bookOf>[0]) => [
  verdict(place, rule),
  verdict(place, rule, { ...GOLD, ...wrong }),
];

describe('rules at answer positions that are not written well', () => {
  const wrongSheet1 = { Sheet1: { A1: 'kept', B2: 3 } };

  it.each([
    ['sheets that are listed (60-7)', { position: 'A1:B5', sheet: 'Sheet1,Retired' }, 'error', true],
    [
      'whole columns (283-32)',
      { position: "Sheet1'!A:G,'Retired'!A:G", sheet: "'Sheet1','Retired'" },
      'error',
      'error',
    ],
    ['a range without its last column (73-45)', { position: "'Sheet1'!B2:308" }, 'vacuous', 'vacuous'],
    ['a blank that does not break (49300)', { position: "\u00a0'Sheet1'!A1:B5" }, true, 'never'],
    ['blanks after commas (45944)', { position: 'A1:A2, B2:B3' }, true, 'error'],
  ])('%s', (_, place, reference, official) => {
    const seen = { true: [true, false], error: ['error', 'error'], vacuous: [true, true], never: [false, false] };
    const expected = (word: boolean | string) => seen[String(word) as keyof typeof seen];
    expect(verdicts(place, 'reference', wrongSheet1)).toEqual(expected(reference));
    expect(verdicts(place, 'official', wrongSheet1)).toEqual(expected(official));
    expect(verdicts(place, 'repaired', wrongSheet1)).toEqual([true, false]);
  });

  it('a comma in the name of a sheet (130-9)', () => {
    const wrong = { 'b2b, sez, de': { A5: 8 } };
    const place = { position: "'b2b, sez, de'!A5:V10" };
    expect(RULES.map((rule) => verdicts(place, rule, wrong))).toEqual([
      ['error', 'error'],
      ['error', 'error'],
      [true, false],
    ]);
    expect(verdicts({ position: 'A5:V10', sheet: 'b2b, sez, de' }, 'repaired', wrong)).toEqual([true, false]);
  });

  it('an answer sheet beside the position (13-1): the official rule looks at the first sheet', () => {
    const place = { position: 'A1', sheet: 'Retired' };
    const wrong = { Retired: { A1: 9 } };
    expect(RULES.map((rule) => verdict(place, rule, { ...GOLD, ...wrong }))).toEqual([false, true, false]);
  });

  it('several ranges with one answer sheet: the reference takes it for the first alone', () => {
    const place = { position: 'A9,A1', sheet: 'Retired' };
    const wrong = { Retired: { A1: 9 } };
    expect(RULES.map((rule) => verdict(place, rule, { ...GOLD, ...wrong }))).toEqual([true, true, false]);
  });

  it('several ranges with a sheet for each: only the repaired rule knows which', () => {
    const place = { position: 'A1,A1', sheet: "'Sheet1', 'Retired'" };
    expect(verdicts(place, 'repaired', { Retired: { A1: 9 } })).toEqual([true, false]);
    expect(verdicts(place, 'reference', { Retired: { A1: 9 } })).toEqual(['error', 'error']);
  });

  it('quotes behind the exclamation mark, doubled quotes, small letters and rows', () => {
    const names = ['given', "it's", 'Q1, Q2'];
    const read = (position: string) =>
      rangesOf({ position, rule: 'repaired', sheetNames: names }).map(
        ({ sheet, cells: { left, top, right, bottom } = {} as never }) => `${sheet} ${left},${top},${right},${bottom}`,
      );
    expect(read("'given!'A1:D2,'Q1, Q2'!b2")).toEqual(['given 1,1,4,2', 'Q1, Q2 2,2,2,2']);
    expect(read("'it''s'!$A$1：B2, 'given'!2:12")).toEqual(["it's 1,1,2,2", 'given 1,2,Infinity,12']);
    expect(read("'given'!BD2:308")).toEqual(['given 56,2,56,308']);
    expect(read("'given'!D4:A1,B5")).toEqual(['given 1,1,4,4', 'given 2,5,2,5']);
  });

  it('nothing at all is no position, and neither are words', () => {
    expect(RULES.map((rule) => verdict({ position: ' ' }, rule))).toEqual([true, 'error', 'error']);
    expect(RULES.map((rule) => verdict({ position: 'the table' }, rule))).toEqual(['error', 'error', 'error']);
  });
});

describe('comparing workbooks', () => {
  it('says where they differ, column by column', () => {
    const got = bookOf({ Sheet1: { B1: true, C3: 4 } });
    const gold = bookOf({ Sheet1: { A2: { date: 45293.5 }, B1: 'x', C3: { time: '10:30:00' } } });
    const { differences, differing } = compareWorkbooks(gold, got, { position: 'A1:C9', rule: 'repaired' });
    expect(differences).toEqual([
      'Sheet1!A2: expected the date 2024-01-02 12:00:00, got nothing',
      'Sheet1!B1: expected "x", got true',
      'Sheet1!C3: expected the time 10:30:00, got 4',
    ]);
    expect(differing).toBe(3);
  });

  it('misses a sheet that is not there', () => {
    expect(RULES.map((rule) => verdict({ position: 'Retired!A1' }, rule, { Sheet1: {} }))).toEqual([
      false,
      false,
      false,
    ]);
    expect(RULES.map((rule) => verdict({ position: 'Nowhere!A1' }, rule))).toEqual([false, false, 'error']);
  });

  it('fails beyond the last row and column only where no difference was seen before', () => {
    const low = { position: 'A1:B1048577' };
    expect(verdict(low, 'reference')).toBe('error');
    expect(verdict(low, 'reference', { ...GOLD, Sheet1: { A1: 'changed', B2: 2 } })).toBe(false);
    expect(verdict(low, 'reference', { ...GOLD, Sheet1: { A1: 'kept', B2: 3 } })).toBe('error');
    expect(verdict({ position: 'A1:ZZZZ2' }, 'reference', { ...GOLD, Sheet1: { A1: 'kept', B2: 3 } })).toBe(false);
  });

  it('compares the largest range of two sheets that hold little', () => {
    expect(verdict({ position: 'A1:XFD1048576' }, 'reference')).toBe(true);
    expect(verdict({ position: 'A:XFD' }, 'repaired')).toBe(true);
  });

  it('survives any position', () => {
    const piece = fc.constantFrom(
      "'",
      '!',
      ',',
      ':',
      'A',
      'Z9',
      '12',
      ' ',
      '\u00a0',
      'Sheet1',
      '$',
      '：',
      'é',
      '"',
      '0',
    );
    const position = fc.oneof(
      fc.array(piece, { maxLength: 30 }).map((all) => all.join('')),
      fc.string(),
    );
    fc.assert(
      fc.property(position, position, fc.constantFrom(...RULES), (text, sheet, rule) => {
        const itself = verdict({ position: text, sheet }, rule);
        expect(itself === true || itself === 'error' || rule !== 'repaired').toBe(true);
      }),
    );
    for (const long of ["'", ',', "','", "'!", 'A1,', "''"])
      for (const rule of RULES) verdict({ position: long.repeat(20_000), sheet: long.repeat(20_000) }, rule);
  });
});

describe('formats of numbers', () => {
  it.each([
    ['General', 'number'],
    ['yyyy\\-mm\\-dd', 'date'],
    ['d', 'number'], // openpyxl wants something before the letter
    ['[Red]0.00', 'number'],
    ['[$-409]d-mmm;@', 'date'],
    ['"days" 0', 'number'],
    ['0\\d', 'number'],
    ['#,##0;yyyy', 'number'],
    ['[h]:mm:ss', 'duration'],
    ['mm:ss', 'date'],
    ['['.repeat(100_000), 'number'],
  ])('%.20s shows a %s', (format, kind) => {
    expect(kindOfFormat(format)).toBe(kind);
  });

  it('make days, times and durations of serial numbers', () => {
    const from1900 = (serial: number) => serialValue(serial, 'date', { from1904: false });
    expect([0, 0.5, 1, 59, 61, -1, -1e9, 1e9].map(from1900)).toEqual([
      { time: '00:00:00' },
      { time: '12:00:00' },
      { date: 2 },
      { date: 60 },
      { date: 61 },
      { date: -1 },
      '#VALUE!',
      '#VALUE!',
    ]);
    expect(serialValue(1, 'date', { from1904: true })).toEqual({ date: 1463 });
    expect(serialValue(1.5, 'duration', { from1904: false })).toEqual({ duration: 129_600_000_000 });
  });
});

const crowd = () => Array.from({ length: 1_000_001 }, (_, index) => `<c><v>${index}</v></c>`).join('');

describe('a workbook', () => {
  it('is read as it shows itself: stored values, dates by their format, nothing below merged cells', async () => {
    const rows = [
      [{ serial: 45293, style: 1 }, { serial: 0.4375, style: 2 }, { serial: 1.5, style: 3 }, '#N/A', true],
      ['hidden below', 'covered', { formula: 'A1+1' }, { formula: 'A1+2', value: 9 }, null],
    ] as const;
    const file = workbookFile([{ name: 'A & b', rows, merged: ['A2:B2'] }]);
    const { sheets, sheetNames, uncalculated } = await readWorkbook(file);
    expect([sheetNames, uncalculated]).toEqual([['A & b'], 1]);
    const expected = {
      ...{ A1: { date: 45293 }, B1: { time: '10:30:00' }, C1: { duration: 129_600_000_000 }, D1: '#N/A', E1: true },
      ...{ A2: 'hidden below', D2: 9 },
    };
    expect(sheets.get('A & b')).toEqual(new Map([...sheetOf(expected), [2, new Map([[1, { time: '10:30:00' }]])]]));
    const old = await readWorkbook(
      workbookFile([{ name: 'x', rows: [[{ serial: 1, style: 1 }]] }], { from1904: true }),
    );
    expect(old.sheets.get('x')!.get(1)!.get(1)).toEqual({ date: 1463 });
  });

  const whole = (sheet: string | Buffer) => {
    const parts = {
      '[Content_Types].xml': '<Types/>',
      'xl/workbook.xml': '<workbook/>',
      'xl/worksheets/sheet1.xml': sheet,
    };
    return parts;
  };

  it.each([
    ['text', Buffer.from('a,b\n1,2'), 'no Excel workbook'],
    ['nothing', Buffer.alloc(0), 'no Excel workbook'],
    ['another zip', zipFile({ 'a.xml': 'a' }), 'no Excel workbook'],
    ['a bomb', zipFile(whole(Buffer.alloc(20_000_000))), 'times larger'],
    [
      'a bomb that lies',
      zipFile(whole(Buffer.alloc(20_000_000)), { 'xl/worksheets/sheet1.xml': 1000 }),
      'larger than it says',
    ],
    ['a crowd', workbookFile([{ name: 'x', rows: [], xml: crowd() }]), '400000 values'],
    ['a giant', zipFile(whole('x'), { 'xl/worksheets/sheet1.xml': 2_000_000_000 }), 'too large: 2000 MB'],
  ])('is refused when it is %s', async (_, bytes, message) => {
    await expect(readWorkbook(bytes)).rejects.toThrow(message);
  });

  it('has no cells where a file has too many columns or rows', async () => {
    const cells = Array.from({ length: 1000 }, (_, index) => `<c r="${columnName(index * 1000 + 1)}1"><v>1</v></c>`);
    const low = '<row r="99999999999"><c r="A99999999999"><v>2</v></c></row>';
    const xml = `<worksheet><dimension ref="A1:XFD1048576"/><sheetData><row r="1">${cells.join('')}</row>${low}</sheetData><mergeCells><mergeCell ref="B2:XFD1048576"/></mergeCells></worksheet>`;
    const { sheets } = await readWorkbook(workbookFile([{ name: 'x', rows: [], xml }]));
    expect(sheets.get('x')!.size).toBe(19);
  });

  it('survives any bytes', async () => {
    const file = workbookFile([{ name: 'x', rows: [[1, 'a']] }]);
    const damaged = fc.tuple(fc.nat(file.length - 1), fc.nat(255)).map(([at, byte]) => {
      const copy = Buffer.from(file);
      copy[at] = byte;
      return copy;
    });
    const read = async (bytes: Uint8Array) => {
      await readWorkbook(bytes).catch((error: unknown) => expect(error).toBeInstanceOf(Error));
    };
    await fc.assert(fc.asyncProperty(fc.oneof(damaged, fc.uint8Array()), read));
  });
});

describe('the preview of a workbook', () => {
  it('shows the beginning of each sheet, with formulas, and says what it leaves out', async () => {
    const wide = Array.from({ length: 22 }, (_, index) => index);
    const rows = [
      [1, { formula: 'A1*2', value: 2 }, { formula: 'A1*3' }, 'x\n'.repeat(30)],
      ...Array(6).fill([5]),
      wide,
    ];
    const preview = await previewWorkbook(
      workbookFile([
        { name: 'Data', rows },
        { name: 'Blank', rows: [] },
      ]),
    );
    expect(preview.split('\n').map((line) => line.slice(0, 90).trimEnd())).toMatchInlineSnapshot(`
      [
        "Sheet "Data" (A1:V8)",
        "A1: 1 | B1: =A1*2 | C1: =A1*3 | D1: x x x x x x x x x x x x x x x x x x x x… | E1:  | F1:",
        "A2: 5 | B2:  | C2:  | D2:  | E2:  | F2:  | G2:  | H2:  | I2:  | J2:  | K2:  | L2:  | M2:",
        "A3: 5 | B3:  | C3:  | D3:  | E3:  | F3:  | G3:  | H3:  | I3:  | J3:  | K3:  | L3:  | M3:",
        "A4: 5 | B4:  | C4:  | D4:  | E4:  | F4:  | G4:  | H4:  | I4:  | J4:  | K4:  | L4:  | M4:",
        "A5: 5 | B5:  | C5:  | D5:  | E5:  | F5:  | G5:  | H5:  | I5:  | J5:  | K5:  | L5:  | M5:",
        "… 3 more rows, 2 more columns",
        "",
        "Sheet "Blank": empty",
      ]
    `);
  });
});

describe('the pairs in a folder', () => {
  it.each([
    [
      ['1_7_input.xlsx', '1_7_answer.xlsx', '2_7_input.xlsx', '2_7_answer.xlsx', 'prompt.txt'],
      ['1_7_answer.xlsx', '2_7_answer.xlsx'],
    ],
    [['1_7-2_init.xlsx', '1_7-2_golden.xlsx'], ['1_7-2_golden.xlsx']],
    [['golden.xlsx', 'initial.xlsx'], ['golden.xlsx']],
    [['1_42930_init.xlsx', '1_43930_golden.xlsx'], ['1_43930_golden.xlsx']],
    [['1_7_init.xlsx', '1_8_golden.xlsx', '1_9_golden.xlsx'], []],
    [['1_7_init.xlsx'], []],
    [[], []],
  ])('%j', (names, answers) => {
    expect(pairFiles(names).map(({ answer }) => answer)).toEqual(answers);
  });

  it('are told apart from those that the reference does not find', () => {
    const misnamed = (input: string, answer: string) => isMisnamed({ input: `a_b/${input}`, answer: `a_b/${answer}` });
    expect(misnamed('1_42930_init.xlsx', '1_43930_golden.xlsx')).toBe(true);
    expect(misnamed('1_4_init.xlsx', '1_4_golden.xlsx')).toBe(false);
    expect(misnamed('initial.xlsx', 'golden.xlsx')).toBe(false);
  });
});
