import { runCycle } from '../../src/sleep/night/run-cycle.ts';
import { doneTasks, nightWorld } from '../../test/unit/sleep/night/night-world.ts';
import { type BenchRow, median } from '../row.ts';

const NIGHTS = 20;
const MOST_MS = 150;

/** What a night takes of its own when no model takes time: waiting for the disk apart, so CPU time is counted. */
export const nightOverhead: BenchRow = {
  name: 'night-overhead',
  what: 'a night of 40 tasks with instant models, from tasks to a staged proposal: CPU time, median',
  goal: `≤ ${MOST_MS} ms`,
  async run(say) {
    const nights: Night[] = [];
    for (let night = 0; night < 2 * NIGHTS; night++) nights.push(await timeNight(night));
    const warm = nights.slice(NIGHTS); // the engine compiles during the first ones
    for (const { cpuMs, ms, calls } of warm)
      say(`${cpuMs.toFixed(0)} ms, ${ms.toFixed(0)} with the disk, ${calls} calls`);
    const of = (figure: keyof Night) => median(warm.map((night) => night[figure]));
    const [own, whole, calls] = [of('cpuMs'), of('ms'), of('calls')];
    const measured = `${own.toFixed(0)} ms for ${calls} calls; ${whole.toFixed(0)} ms with the disk; the first night ${nights[0]!.cpuMs.toFixed(0)} ms`;
    return { measured, holds: own <= MOST_MS, figures: { own, whole, calls } };
  },
};

type Night = { readonly cpuMs: number; readonly ms: number; readonly calls: number };

async function timeNight(night: number): Promise<Night> {
  using world = nightWorld();
  const input = await world.input({ tasks: doneTasks(`t${night}`, { train: 20, val: 20 }) });
  const [before, start] = [process.cpuUsage(), performance.now()];
  const { report, proposals } = await runCycle(input);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  if (proposals.length === 0) throw new Error('a night that should stage a proposal staged none');
  return { cpuMs: (user + system) / 1000, ms, calls: report.calls };
}
