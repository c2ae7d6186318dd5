// npm run bench:quality [-- SECTION…] [--quick] [--json] [--out DIR] [--seeds N] [--from SEED] [--optimizer reader|control]:
// what the gate, whole runs and the optimizer's parts are worth, in worlds whose truth is known.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { align } from '../align.ts';
import { ablationSection } from './ablation/ablation-section.ts';
import { isOptimizerName, OPTIMIZERS } from './ablation/setting.ts';
import { draftsSection } from './drafts/drafts-section.ts';
import { familySection } from './family/family-section.ts';
import { gateSection } from './gate/gate-section.ts';
import { nightsSection } from './nights/nights-section.ts';
import { overlapsSection } from './overlaps/overlaps-section.ts';
import type { Row } from './row.ts';
import type { BenchOptions, Outcome, Section } from './section.ts';
import { trainerSection } from './trainer/trainer-section.ts';
import { wallClockSection } from './wall-clock/wall-clock-section.ts';

const SECTIONS: readonly Section[] = [
  familySection,
  gateSection,

  trainerSection,
  ablationSection,
  wallClockSection,
  overlapsSection,
  nightsSection,
  draftsSection,
];

const { values, positionals } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    out: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string' },
    optimizer: { type: 'string', default: 'reader' },
  },
  allowPositionals: true,
});

const outcomes: (Outcome & { readonly name: string })[] = [];
const [sections, options] = [chosenSections(), chosenOptions()];
for (const { name, run } of sections) {
  const outcome = await run(options, (progress) => process.stderr.write(`${name}: ${progress}\n`));
  outcomes.push({ name, ...outcome });
  if (!values.json) console.log(`${name}\n${align(cellsOf(outcome.rows))}\n`);
  if (values.out !== undefined) await writeOut(values.out, name, outcome);
}

const { held, total, verdict } = judge(outcomes.flatMap(({ rows }) => rows));
const report = { sections: outcomes.map(({ name, rows }) => ({ name, rows })), held, total, verdict };
console.log(values.json ? JSON.stringify(report, null, 2) : verdict);
process.exit(held === total ? 0 : 1);

function chosenSections(): readonly Section[] {
  const names = SECTIONS.map(({ name }) => name);
  const unknown = positionals.filter((name) => !names.includes(name));
  if (unknown.length > 0) refuse(`no section is called ${unknown.join(', ')}; there are ${names.join(', ')}`);
  return positionals.length === 0 ? SECTIONS : SECTIONS.filter(({ name }) => positionals.includes(name));
}

function chosenOptions(): BenchOptions {
  const { quick: isQuick, seeds, from, optimizer } = values;
  if (!isOptimizerName(optimizer)) refuse(`--optimizer must be one of ${Object.keys(OPTIMIZERS).join(', ')}`);
  return {
    isQuick,
    optimizer,
    ...(seeds === undefined ? {} : { seeds: wholeNumber('--seeds', seeds, 2) }),
    ...(from === undefined ? {} : { from: wholeNumber('--from', from, 0) }),
  };
}

function wholeNumber(flag: string, text: string, least: number): number {
  const number = Number(text);
  return Number.isInteger(number) && number >= least
    ? number
    : refuse(`${flag} must be a whole number from ${least} on, got ${text}`);
}

function refuse(message: string): never {
  console.error(message);
  process.exit(2);
}

/** Rows that promise nothing do not count. */
function judge(rows: readonly Row[]) {
  const promises = rows.filter(({ holds }) => holds !== undefined);
  const held = promises.filter(({ holds }) => holds).length;
  return { held, total: promises.length, verdict: `rows: ${held} of ${promises.length} hold` };
}

function cellsOf(rows: readonly Row[]): string[][] {
  const cells = rows.map(({ what, goal, measured, holds }) => [what, goal, measured, inWord(holds)]);
  return [['what', 'goal', 'measured', 'holds'], ...cells];
}

function inWord(holds: boolean | undefined): string {
  if (holds === undefined) return '';
  return holds ? 'yes' : 'NO';
}

/** The section's table as Markdown, and what else it draws. */
async function writeOut(directory: string, name: string, { rows, files = {} }: Outcome): Promise<void> {
  const [head, ...lines] = cellsOf(rows).map((cells) => `| ${cells.join(' | ')} |`);
  const command = `npm run bench:quality -- ${process.argv.slice(2).join(' ')}`.trim();
  const text = [`Made by \`${command}\`.`, '', head, '|---|---|---|---|', ...lines, '', judge(rows).verdict, ''].join(
    '\n',
  );
  await mkdir(directory, { recursive: true });
  for (const [file, content] of Object.entries({ [`${name}-table.md`]: text, ...files })) {
    await writeFile(join(directory, file), content);
  }
}
