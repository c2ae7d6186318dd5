// npm run bench:quality [-- --seeds N] [--from SEED] [--optimizer reader|control] [--json]: what each part of the optimizer is worth.
import { parseArgs } from 'node:util';
import type { SkillOptConfigInput } from '../../src/index.ts';
import { COMPARISONS, type Comparison } from './comparisons.ts';
import { type Interval, mean, pairedInterval } from './paired.ts';
import { OPTIMIZERS, type OptimizerName } from './setting.ts';
import { trainInWorld } from './train-in-world.ts';

const MOST_LOST = 1;

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '60' },
    from: { type: 'string', default: '1' },
    optimizer: { type: 'string', default: 'reader' },
  },
});
const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => index + Number(values.from));
if (!Object.hasOwn(OPTIMIZERS, values.optimizer) || seeds.length < 2) {
  console.error(`--optimizer must be one of ${Object.keys(OPTIMIZERS).join(', ')}; --seeds a number from 2 on`);
  process.exit(2);
}
const optimizer = values.optimizer as OptimizerName;

type Row = Omit<Comparison, 'on' | 'off'> &
  Interval & { readonly scoreOn: number; readonly scoreOff: number; readonly holds?: boolean };

const known = new Map<string, number[]>();
const rows: Row[] = [];
for (const { on, off, ...comparison } of COMPARISONS) {
  const [scoresOn, scoresOff] = [await scoresOf(on), await scoresOf(off)];
  const interval = pairedInterval(scoresOn.map((score, index) => score - scoresOff[index]!));
  const verdict = comparison.kind === 'part' ? { holds: interval.mean >= -MOST_LOST } : {};
  rows.push({ ...comparison, ...interval, scoreOn: mean(scoresOn), scoreOff: mean(scoresOff), ...verdict });
  process.stderr.write(`${comparison.name}: ${inWords(interval)}\n`);
}

const goals = [
  ...rows.flatMap(({ what, kind, holds }) => (kind === 'part' ? [{ what, holds: holds === true }] : [])),
  // What a control cannot gain it need not show.
  ...(optimizer === 'control' ? [] : [{ what: 'one part at least is better beyond its interval', holds: hasGain() }]),
];
const held = goals.filter(({ holds }) => holds).length;
const verdict = `rows: ${held} of ${goals.length} hold`;
if (values.json) console.log(JSON.stringify({ optimizer, seeds: seeds.length, rows, goals, verdict }, null, 2));
else console.log(`${table()}\n\n${verdict}`);
process.exit(held === goals.length ? 0 : 1);

function hasGain(): boolean {
  return rows.some(({ kind, low }) => kind === 'part' && low > 0);
}

/** The same worlds for every setting, each setting once. */
async function scoresOf(config: SkillOptConfigInput): Promise<number[]> {
  const key = JSON.stringify(config);
  const scores = known.get(key) ?? [];
  if (scores.length === 0) for (const seed of seeds) scores.push(await trainInWorld({ seed, config, optimizer }));
  known.set(key, scores);
  return scores;
}

function inWords({ mean, low, high }: Interval): string {
  const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`;
  return `${signed(mean)} (${signed(low)} to ${signed(high)})`;
}

function table(): string {
  const cells = rows.map((row) => [
    row.what,
    row.scoreOn.toFixed(1),
    row.scoreOff.toFixed(1),
    inWords(row),
    row.kind === 'part' ? `≥ −${MOST_LOST}` : '',
    row.kind === 'part' ? yesOrNo(row.holds === true) : '',
  ]);
  const gain = goals.slice(rows.filter(({ kind }) => kind === 'part').length);
  const head = [`points of 100, ${seeds.length} worlds`, 'with', 'without', 'difference, 95 %', 'goal', 'holds'];
  return align([head, ...cells, ...gain.map(({ what, holds }) => [what, '', '', '', '', yesOrNo(holds)])]);
}

function yesOrNo(holds: boolean): string {
  return holds ? 'yes' : 'NO';
}

function align(lines: readonly string[][]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
