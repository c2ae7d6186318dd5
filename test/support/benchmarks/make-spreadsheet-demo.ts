import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workbookFile } from '../workbook-file.ts';

// Writes the demo of SpreadsheetBench: npx tsx test/support/benchmarks/make-spreadsheet-demo.ts

type Cell = string | number | null;
type Table = readonly (readonly Cell[])[];

/** A workbook, and what it becomes. Other sheets are the same in both. */
type Change = {
  readonly sheet: string;
  readonly before: Table;
  readonly after: Table;
  readonly others?: Readonly<Record<string, Table>>;
};

type Task = {
  readonly id: string;
  readonly instruction: string;
  readonly type: 'Cell-Level Manipulation' | 'Sheet-Level Manipulation';
  readonly position: string;
  readonly answerSheet?: string;
  /** More than one: the code that was written for the first must do for the others. */
  readonly changes: readonly Change[];
};

type Extension = Omit<Change, 'before' | 'after'> & {
  readonly head?: readonly string[];
  readonly rows: Table;
  /** For the end of each row. */
  readonly cells: Table;
};

const extended = ({ head, rows, cells, ...change }: Extension): Change => {
  const top = head === undefined ? [] : [head];
  return {
    ...change,
    before: [...top, ...rows],
    after: [...top, ...rows.map((row, index) => [...row, ...cells[index]!])],
  };
};

/** The last column is worked out. */
const filledIn = (
  sheet: string,
  head: readonly string[],
  rows: Table,
  compute: (row: readonly Cell[]) => Cell,
): Change => extended({ sheet, head, rows, cells: rows.map((row) => [compute(row)]) });

const orders = (rows: Table) =>
  filledIn('Orders', ['Item', 'Price', 'Count', 'Total'], rows, ([, price, count]) => Number(price) * Number(count));
const names = (rows: Table) =>
  filledIn('Guests', ['First name', 'Last name', 'Label'], rows, ([first, last]) => `${last}, ${first}`);

const people: Table = [
  ['Ada', 'Berlin', 31],
  ['Bo', 'Oslo', 27],
  ['Cy', 'Berlin', 45],
  ['Di', 'Rome', 38],
];

const temperatures: Table = [
  ['Mon', 12.4],
  ['Tue', 13.1],
  ['Wed', 9.9],
  ['Thu', 11],
  ['Fri', 14.2],
  ['Sat', 15],
  ['Sun', 10.8],
];

const TASKS: Readonly<Record<'train' | 'val' | 'test', readonly Task[]>> = {
  train: [
    {
      id: 'totals',
      instruction: 'Column D of the sheet Orders is empty. Please put price times count there, for each order.',
      type: 'Cell-Level Manipulation',
      position: "'Orders'!D2:D6",
      changes: [
        orders([
          ['Pen', 1.5, 4],
          ['Ink', 7.25, 2],
          ['Pad', 3, 5],
        ]),
        orders([
          ['Cup', 4, 3],
          ['Mug', 6.5, 2],
          ['Jug', 12, 1],
          ['Lid', 0.75, 8],
          ['Tin', 2.2, 5],
        ]),
      ],
    },
    {
      id: 'labels',
      instruction: 'I need labels in column C: the last name, a comma, a space and the first name.',
      type: 'Cell-Level Manipulation',
      position: 'C2:C5',
      changes: [
        names([
          ['Ada', 'Moss'],
          ['Bo', 'Reed'],
          ['Cy', 'Fern'],
        ]),
      ],
    },
    {
      id: 'berlin',
      instruction: 'Copy the rows of everybody in Berlin, without the headings, to the top of the sheet Berlin.',
      type: 'Sheet-Level Manipulation',
      position: 'A1:C4',
      answerSheet: 'Berlin',
      changes: [
        {
          sheet: 'Berlin',
          before: [],
          after: people.filter(([, city]) => city === 'Berlin'),
          others: { People: people },
        },
      ],
    },
    {
      id: 'grades',
      instruction: 'Write pass into column C where the points are 50 or more, and fail where they are less.',
      type: 'Cell-Level Manipulation',
      position: "'Points'!C2:C6",
      changes: [
        filledIn(
          'Points',
          ['Name', 'Points', 'Result'],
          [
            ['Ed', 71],
            ['Flo', 49],
            ['Gus', 50],
            ['Hal', 12],
          ],
          ([, points]) => (Number(points) >= 50 ? 'pass' : 'fail'),
        ),
      ],
    },
  ],
  val: [
    {
      id: 'mean',
      instruction: 'What is the mean of the temperatures? Put it into B8, rounded to one decimal.',
      type: 'Cell-Level Manipulation',
      position: 'B8',
      changes: [{ sheet: 'Week', before: [...temperatures, ['Mean']], after: [...temperatures, ['Mean', 12.3]] }],
    },
    {
      id: 'repeats',
      instruction: 'Remove all repeats from column A. Keep the first of each, in their order, without gaps.',
      type: 'Sheet-Level Manipulation',
      position: 'A1:A8',
      changes: [
        {
          sheet: 'Codes',
          before: ['R7', 'B2', 'R7', 'K9', 'B2', 'R7', 'Z1'].map((code) => [code]),
          after: ['R7', 'B2', 'K9', 'Z1'].map((code) => [code]),
        },
      ],
    },
    {
      id: 'sorted',
      instruction: 'Sort the rows below the headings by stock, the largest first.',
      type: 'Sheet-Level Manipulation',
      position: "'Stock'!A2:B5",
      changes: [
        {
          sheet: 'Stock',
          before: [
            ['Part', 'Stock'],
            ['Bolt', 40],
            ['Nut', 95],
            ['Washer', 12],
            ['Screw', 61],
          ],
          after: [
            ['Part', 'Stock'],
            ['Nut', 95],
            ['Screw', 61],
            ['Bolt', 40],
            ['Washer', 12],
          ],
        },
      ],
    },
    {
      id: 'lookup',
      instruction: 'Column B of Shop should hold the price of the fruit in column A, from the sheet Prices.',
      type: 'Cell-Level Manipulation',
      position: 'B1:B3',
      answerSheet: 'Shop',
      changes: [
        extended({
          sheet: 'Shop',
          rows: [['plum'], ['fig'], ['plum']],
          cells: [[2.1], [0.8], [2.1]],
          others: {
            Prices: [
              ['fig', 0.8],
              ['pear', 1.4],
              ['plum', 2.1],
            ],
          },
        }),
      ],
    },
  ],
  test: [
    {
      id: 'running',
      instruction: 'Column B has what came in and went out each day. Put the running total into column C.',
      type: 'Cell-Level Manipulation',
      position: "'Cash'!C2:C6",
      changes: [
        extended({
          sheet: 'Cash',
          head: ['Day', 'Change', 'Total'],
          rows: [
            [1, 100],
            [2, -30],
            [3, 45.5],
            [4, -12.25],
          ],
          cells: [[100], [70], [115.5], [103.25]],
        }),
      ],
    },
    {
      id: 'split',
      instruction:
        'Column A has sizes such as 20x35. Put the number before the x into column B and the other one into column C.',
      type: 'Cell-Level Manipulation',
      position: 'B1:C3',
      changes: [
        extended({
          sheet: 'Sizes',
          rows: [['20x35'], ['8x12'], ['100x7']],
          cells: [
            [20, 35],
            [8, 12],
            [100, 7],
          ],
        }),
      ],
    },
    {
      id: 'summary',
      instruction: 'In the sheet Sums, put the sum of the amounts of each team of the sheet Log beside its name.',
      type: 'Sheet-Level Manipulation',
      position: "'Sums'!B1:B3",
      changes: [
        extended({
          sheet: 'Sums',
          rows: [['red'], ['green'], ['blue']],
          cells: [[17], [4], [0]],
          others: {
            Log: [
              ['red', 9],
              ['green', 4],
              ['red', 8],
            ],
          },
        }),
      ],
    },
    {
      id: 'turned',
      instruction: 'Turn the table in A1:C2 so that its rows become columns. It should begin at E1; the old one stays.',
      type: 'Sheet-Level Manipulation',
      position: 'E1:F3',
      changes: [
        {
          sheet: 'Table',
          before: [
            ['a', 'b', 'c'],
            [1, 2, 3],
          ],
          after: [
            ['a', 'b', 'c', null, 'a', 1],
            [1, 2, 3, null, 'b', 2],
            [null, null, null, null, 'c', 3],
          ],
        },
      ],
    },
  ],
};

const root = fileURLToPath(new URL('../../../examples/benchmarks/spreadsheetbench/', import.meta.url));

function write(name: string, { sheet, others = {} }: Change, rows: Table): void {
  const sheets = [
    ...Object.entries(others).map(([other, cells]) => ({ name: other, rows: cells })),
    { name: sheet, rows },
  ];
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), workbookFile(sheets));
}

for (const [split, tasks] of Object.entries(TASKS)) {
  const items = tasks.map(({ id, instruction, type, position, answerSheet, changes }) => {
    const folder = `spreadsheet/${id}`;
    for (const [index, change] of changes.entries()) {
      write(`${folder}/${index + 1}_${id}_init.xlsx`, change, change.before);
      write(`${folder}/${index + 1}_${id}_golden.xlsx`, change, change.after);
    }
    const sheet = answerSheet === undefined ? {} : { answer_sheet: answerSheet };
    return { id, instruction, instruction_type: type, answer_position: position, ...sheet, spreadsheet_path: folder };
  });
  mkdirSync(join(root, split), { recursive: true });
  writeFileSync(join(root, split, 'items.json'), `${JSON.stringify(items, null, 2)}\n`);
}
