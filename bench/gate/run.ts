// npm run bench:gate [-- --json] [-- --quick]: the default gate against the strict one, in worlds whose truth is known.
import { parseArgs } from 'node:util';
import type { Gate, Sums } from './cell.ts';
import { runCells } from './pool.ts';
import { mainSection, otherSection, type Row, racingSection, type Section, wholeRunSection } from './rows.ts';

const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
});
const seeds = (full: number) => (values.quick ? Math.ceil(full / 16) : full);

const sections: readonly Section[] = [
  mainSection(seeds(800)),
  otherSection(8, 'binary', seeds(1600)),
  otherSection(17, 'binary', seeds(800)),
  otherSection(24, 'binary', seeds(600)),
  otherSection(53, 'binary', seeds(300)),
  otherSection(100, 'binary', seeds(300)),
  otherSection(200, 'binary', seeds(300)),
  otherSection(40, 'graded', seeds(300)),
  otherSection(40, 'judge', seeds(300)),
  otherSection(40, 'judged-outcome', seeds(300)),
  racingSection(seeds(300)),
  wholeRunSection({ what: 'whole runs, 2,000 target calls', budget: 2000, leastRatio: 1.25, seeds: seeds(300) }),
  wholeRunSection({ what: 'whole runs, 680 target calls', budget: 680, leastRatio: 0.9, seeds: seeds(600) }),
  wholeRunSection({
    what: 'whole runs, 2,000, batches of 40 on both sides',
    budget: 2000,
    ours: { batch: 40 },
    seeds: seeds(100),
  }),
  wholeRunSection({
    what: 'whole runs, 2,000, no train cache on either side',
    budget: 2000,
    both: { isCached: false },
    seeds: seeds(100),
  }),
  wholeRunSection({
    what: 'whole runs, 2,000, at most 40 proposals on either side',
    budget: 2000,
    both: { maxProposals: 40 },
    seeds: seeds(100),
  }),
  wholeRunSection({
    what: 'whole runs, 2,000, at most 40 proposals, patient settings',
    budget: 2000,
    both: { maxProposals: 40 },
    gate: 'patient',
    seeds: seeds(300),
  }),
];

const cells = sections.flatMap((section) => section.cells);
let shown = -1;
const sums = await runCells(cells, (done, all) => {
  const percent = Math.floor((100 * done) / all);
  if (percent % 5 === 0 && percent !== shown) process.stderr.write(`${percent} %\n`);
  shown = percent;
});

const rows = sections.flatMap((section) => section.rows(byGate(section)));
const held = rows.filter(({ holds }) => holds).length;
const verdict = `rows: ${held} of ${rows.length} hold`;
console.log(
  values.json ? JSON.stringify({ rows, held, total: rows.length, verdict }, null, 2) : `${table(rows)}\n${verdict}`,
);
process.exit(held === rows.length ? 0 : 1);

function byGate(section: Section): Record<Gate, Sums[]> {
  const of = (gate: Gate) =>
    section.cells.filter((cell) => cell.gate === gate).map((cell) => sums[cells.indexOf(cell)]!);
  return { strict: of('strict'), default: of('default'), patient: of('patient'), exact: of('exact') };
}

function table(lines: readonly Row[]): string {
  const cellsOf = ({ what, goal, measured, holds }: Row) =>
    `| ${what} | ${goal} | ${measured} | ${holds ? 'yes' : 'NO'} |`;
  return ['| what | goal | measured | holds |', '|---|---|---|---|', ...lines.map(cellsOf)].join('\n');
}
