import { mean } from '../interval.ts';
import { runAll } from '../pool.ts';
import type { Row } from '../row.ts';
import type { BenchOptions, Section } from '../section.ts';
import type { Drafted } from './draft-in-world.ts';
import { JUDGING, LEAST_GAIN, LEAST_GOOD, TASKS, TUNING } from './setting.ts';

/** What drafted tasks are worth beside true ones. The seeds of tuning are shown, and promise nothing. */
export const draftsSection: Section = {
  name: 'drafts',
  async run({ isQuick, from, seeds }: BenchOptions, say) {
    const own = from === undefined ? JUDGING : { from, seeds: JUDGING.seeds };
    const judging = seedsFrom({ from: own.from, seeds: seeds ?? (isQuick ? 4 : own.seeds) });
    const tuning = seedsFrom({ ...TUNING, seeds: isQuick ? 2 : TUNING.seeds });
    const drafted = await runAll(
      'drafts',
      [...judging, ...tuning].map((seed) => ({ seed })),
      { say },
    );
    const [judged, tuned] = [drafted.slice(0, judging.length), drafted.slice(judging.length)];
    const shown = rowsOf(tuned, `tuning seeds ${spanOf(tuning)}`).map(({ holds: _holds, ...row }) => row);
    return { rows: [...rowsOf(judged, `judging seeds ${spanOf(judging)}`), ...shown] };
  },
};

const seedsFrom = ({ from, seeds }: { readonly from: number; readonly seeds: number }) =>
  Array.from({ length: seeds }, (_, index) => from + index);
const spanOf = (seeds: readonly number[]) => `${seeds[0]} to ${seeds.at(-1)}`;

function rowsOf(worlds: readonly Drafted[], where: string): Row[] {
  const good = worlds.map((world) => world.good / TASKS);
  const [trueGain, draftedGain] = [
    mean(worlds.map((world) => world.trueGain)),
    mean(worlds.map((world) => world.draftedGain)),
  ];
  const ratios = worlds.map((world) => (world.trueGain === 0 ? 1 : world.draftedGain / world.trueGain));
  const ratio = draftedGain / trueGain;
  const faults = `${mean(worlds.map(({ kept, valid }) => kept - valid)).toFixed(2)} wrong, ${mean(worlds.map(({ kept, distinct }) => kept - distinct)).toFixed(2)} repeated, ${mean(worlds.map(({ kept }) => TASKS - kept)).toFixed(2)} missing of ${TASKS}`;
  return [
    {
      what: `valid and distinct of ${TASKS} drafted tasks, ${where}`,
      goal: `≥ ${percent(LEAST_GOOD)}`,
      measured: `${percent(mean(good))}, worst ${percent(Math.min(...good))}: ${faults}; ${mean(worlds.map(({ calls }) => calls)).toFixed(0)} calls`,
      holds: mean(good) >= LEAST_GOOD,
      figures: { good },
    },
    {
      what: `gain of training on them, of what true tasks give, ${where}`,
      goal: `≥ ${percent(LEAST_GAIN)}`,
      measured: `${percent(ratio)}, worst ${percent(Math.min(...ratios))}: ${draftedGain.toFixed(1)} of ${trueGain.toFixed(1)} points`,
      holds: ratio >= LEAST_GAIN,
      figures: { ratios },
    },
  ];
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
