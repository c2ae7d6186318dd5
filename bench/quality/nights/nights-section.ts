import { mean, sum } from '../interval.ts';
import { runAll } from '../pool.ts';
import { type Row, SHOWN_ONLY } from '../row.ts';
import type { BenchOptions, Section } from '../section.ts';
import type { FirstNights, FirstNightsInput } from './first-nights.ts';
import type { Month, MonthInput } from './month.ts';
import { RUNNERS } from './runners.ts';

/** Seeds up to here are for choosing settings (`--from 1`). The figures come from those behind, which nothing was chosen by. */
const LAST_TUNING_SEED = 1_000_000;
const FIRST_JUDGING_SEED = LAST_TUNING_SEED + 1;

const FIRST_NIGHTS = 1_000;
const MONTHS = { 'nothing-helps': 200, learnable: 40 } as const;
const NIGHTS = 30;
const NIGHTS_A_PIECE = 25;
const QUICK_PART = 10;

/** What nights stage: junk, true changes, months in which nothing helps, and months with twelve things to learn. */
export const nightsSection: Section = {
  name: 'nights',
  async run(options, say) {
    const rows: Row[] = [];
    for (const runner of Object.keys(RUNNERS)) {
      const tell = (progress: string) => say(`${runner} ${progress}`);
      rows.push(...(await firstNightRows(runner, options, tell)), ...(await monthRows(runner, options, tell)));
    }
    return { rows };
  },
};

type Say = (progress: string) => void;

const seedsOf = (usual: number, { isQuick, from = FIRST_JUDGING_SEED, seeds }: BenchOptions) => {
  return { from, seeds: seeds ?? Math.ceil(usual / (isQuick ? QUICK_PART : 1)) };
};

type FirstNightRow = Pick<FirstNightsInput, 'effect' | 'documents' | 'skills'> & {
  readonly what: string;
  readonly goal: Goal;
};
type Goal = { readonly most: number } | { readonly least: number };

const BOTH = ['skill', 'memory'] as const;
const FIRST_NIGHT_ROWS: readonly FirstNightRow[] = [
  { what: 'useless edits, skill only: staged', effect: 'none', documents: ['skill'], goal: { most: 0.05 } },
  { what: 'useless edits, skill and memory: staged', effect: 'none', documents: BOTH, goal: { most: 0.05 } },
  {
    what: 'useless edits, two existing skills and memory: at least one staged',
    ...{ effect: 'none', documents: BOTH, skills: ['deploy', 'review'], goal: { most: 0.05 } },
  },
  { what: '+17 points on every task: staged', effect: 'spread', documents: BOTH, goal: { least: 0.9 } },
  { what: '+50 points on every third task: staged', effect: 'third', documents: BOTH, goal: { least: 0.9 } },
];

async function firstNightRows(runner: string, options: BenchOptions, say: Say): Promise<Row[]> {
  const { from, seeds } = seedsOf(FIRST_NIGHTS, options);
  const pieces = Array.from({ length: Math.ceil(seeds / NIGHTS_A_PIECE) }, (_, piece) => {
    const done = piece * NIGHTS_A_PIECE;
    return { from: from + done, seeds: Math.min(NIGHTS_A_PIECE, seeds - done) };
  });
  const rows = FIRST_NIGHT_ROWS.filter(({ skills }) => skills === undefined || RUNNERS[runner]!.isPromised); // the other's night knows one skill
  const inputs = rows.flatMap(({ effect, documents, skills }) =>
    pieces.map((piece): FirstNightsInput => ({ runner, effect, documents, skills, ...piece })),
  );
  const counted = await runAll('first-nights', inputs, { say });
  return rows.map((row, at) =>
    firstNightRow(row, counted.slice(at * pieces.length, (at + 1) * pieces.length), runner, seeds),
  );
}

function firstNightRow(row: FirstNightRow, counted: readonly FirstNights[], runner: string, nights: number): Row {
  const { what, goal, effect } = row;
  const share = sum(counted.map(({ staged, right }) => (effect === 'none' ? staged : right))) / nights;
  const calls = sum(counted.map((one) => one.calls)) / nights;
  return {
    what: `${runner}, first night, 14 validation tasks a skill, judge sd 0.15, ${what}`,
    measured: `${percent(share)} of ${nights} nights, ${calls.toFixed(0)} calls a night`,
    figures: { share, nights, calls },
    ...promise(runner, inWords(goal, 'of nights'), meets(share, goal)),
  };
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const inWords = (goal: Goal, of: string) =>
  'most' in goal ? `≤ ${100 * goal.most} % ${of}` : `≥ ${100 * goal.least} % ${of}`;
const meets = (share: number, goal: Goal) => ('most' in goal ? share <= goal.most : share >= goal.least);

/** Only a runner that promises something can break its word. */
function promise(runner: string, goal: string, holds: boolean): Pick<Row, 'goal' | 'holds'> {
  return RUNNERS[runner]!.isPromised ? { goal, holds } : { goal: `${SHOWN_ONLY} (${goal})` };
}

async function monthRows(runner: string, options: BenchOptions, say: Say): Promise<Row[]> {
  const monthsOf = (usefulness: MonthInput['usefulness']) => {
    const { from, seeds } = seedsOf(MONTHS[usefulness], options);
    const inputs = Array.from({ length: seeds }, (_, at) => ({ runner, usefulness, seed: from + at, nights: NIGHTS }));
    return runAll('month', inputs, { say });
  };
  const [idle, learnable] = [await monthsOf('nothing-helps'), await monthsOf('learnable')];
  return [falseStagingRow(runner, idle), ...learnedRows(runner, learnable)];
}

function falseStagingRow(runner: string, months: readonly Month[]): Row {
  const share = months.filter(({ stagings }) => stagings > 0).length / months.length;
  const goal = { most: 0.1 };
  return {
    what: `${runner}, ${NIGHTS} nights in which nothing helps: something was staged`,
    measured: `${percent(share)} of ${months.length} months, ${callsANight(months).toFixed(0)} calls a night`,
    figures: { share, months: months.length, calls: callsANight(months) },
    ...promise(runner, inWords(goal, 'of months'), meets(share, goal)),
  };
}

const callsANight = (months: readonly Month[]) => mean(months.map(({ calls }) => calls)) / NIGHTS;

const MOST_ERROR = 0.02;

function learnedRows(runner: string, months: readonly Month[]): Row[] {
  const what = `${runner}, ${NIGHTS} nights, 12 things to learn, 6 sessions a day`;
  const share = mean(months.map((month) => month.share));
  const errors = months.flatMap((month) => month.errors);
  const error = errors.length === 0 ? 0 : mean(errors);
  const [calls, stagings] = [callsANight(months), mean(months.map((month) => month.stagings))];
  const learned = { least: 0.8 };
  return [
    {
      what: `${what}: of what the true rules gain, staged in the end`,
      measured: `${percent(share)}, mean of ${months.length} months; ${stagings.toFixed(1)} nights staged, ${calls.toFixed(0)} calls a night`,
      figures: { share, months: months.length, stagings, calls },
      ...promise(runner, inWords(learned, 'of it'), meets(share, learned)),
    },
    {
      what: `${what}: reported gain minus true gain`,
      measured: `${(100 * error).toFixed(1)} points, mean of ${errors.length} reports`,
      figures: { error, reports: errors.length },
      ...promise(runner, 'within ±2 points', errors.length > 0 && Math.abs(error) <= MOST_ERROR),
    },
  ];
}
