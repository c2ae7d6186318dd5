import type { ChildProcess } from 'node:child_process';
import { cpuSince } from '../cpu-time.ts';
import { type BenchRow, median } from '../row.ts';
import { type Crowd, measureCrowd } from './crowd.ts';
import { compute, type Work } from './work.ts';

const COMPUTED_MS = 200;
const pairs = (count: number) => Array.from({ length: count }, (_, pair) => pair + 1);

/** So many rounds of a hash take 200 ms of CPU on this machine. All processes then do the same work. */
function computing(): Work {
  compute(20_000);
  const before = process.cpuUsage();
  compute(40_000);
  return { does: 'compute', amount: Math.round((40_000 * COMPUTED_MS) / cpuSince(before)) };
}

const twoOnTwoCores: BenchRow = {
  name: 'workers',
  what: `rollouts that compute for ${COMPUTED_MS} ms, 2 workers on 2 cores, against 1 worker; the median of 3`,
  goal: '≥ 1.8 ×',
  async run(say) {
    const work = computing();
    const ratios: number[] = [];
    for (const pair of pairs(3)) {
      const [one, two] = [await timed(1), await timed(2)];
      ratios.push(one / two);
      say(`pair ${pair}: ${inSeconds(one)} with one, ${inSeconds(two)} with two`);
    }
    const ratio = median(ratios);
    return { measured: `${ratio.toFixed(2)} ×`, holds: ratio >= 1.8, figures: { ratio, ratios } };
    async function timed(workers: number) {
      return (await measureCrowd({ work, tasks: 60, workers, concurrency: 1, width: 4 })).ms;
    }
  },
};

const MANY = 10_000;

const memoryOfMany: BenchRow = {
  name: 'workers',
  what: `${MANY} tasks × 8 workers of 4 places, results of 2 kB: peaks of memory`,
  goal: 'Redis ≤ 50 MB, the process that trains ≤ 300 MB',
  async run() {
    const work: Work = { does: 'chat', amount: 2_000 };
    const { redisMb, rssMb, ms } = await measureCrowd({ work, tasks: MANY, workers: 8, concurrency: 4 });
    const measured = `Redis ${redisMb.toFixed(1)} MB, the process that trains ${rssMb.toFixed(0)} MB, in ${inSeconds(ms)}`;
    return { measured, holds: redisMb <= 50 && rssMb <= 300, figures: { redisMb, rssMb } };
  },
};

const CHATS = 2_000;

const addedCpu: BenchRow = {
  name: 'workers',
  what: `CPU that workers add to a rollout with one call and a result of 20 kB, all processes together; the least of 3`,
  goal: '≤ 2 ms',
  async run(say) {
    const work: Work = { does: 'chat', amount: 20_000 };
    const run = { work, tasks: CHATS, warmUps: 2 };
    const added: number[] = [];
    for (const pair of pairs(3)) {
      const here = await measureCrowd({ ...run, workers: 0, concurrency: 32 });
      const there = await measureCrowd({ ...run, workers: 2, concurrency: 16 });
      added.push((there.cpuMs - here.cpuMs) / CHATS);
      say(
        `pair ${pair}: ${(here.cpuMs / CHATS).toFixed(2)} ms here, ${(there.cpuMs / CHATS).toFixed(2)} ms with workers`,
      );
    }
    const least = Math.min(...added); // what others do on the machine only adds to it
    return { measured: `${least.toFixed(2)} ms`, holds: least <= 2, figures: { least, added } };
  },
};

const killedWorker: BenchRow = {
  name: 'workers',
  what: 'kill -9 of one of 2 workers amid 4 rollouts: until the other has begun all 4',
  goal: '≤ 30 s',
  async run() {
    const work: Work = { does: 'sleep', amount: 3_000 };
    let seconds = Number.NaN;
    await measureCrowd({ work, tasks: 24, workers: 2, concurrency: 4 }, async ({ workers, begun }) => {
      const [victim] = workers;
      const held = new Set<string>();
      await new Promise<void>((isBusy) => {
        begun.on('task', (task: string, by: ChildProcess) => {
          if (by === victim && held.add(task).size === 4) isBusy();
        });
      });
      victim!.kill('SIGKILL');
      const killedAt = performance.now();
      await new Promise<void>((areBack) => {
        begun.on('task', (task: string) => void (held.delete(task) && held.size === 0 && areBack()));
      });
      seconds = (performance.now() - killedAt) / 1_000;
    });
    return { measured: `${seconds.toFixed(1)} s`, holds: seconds <= 30, figures: { seconds } };
  },
};

const PLACES = 4;
const COUNTS = [1, 2, 4, 8];
const LONG_MS = 60_000;
const CURVE = [
  { title: '0.1 s of waiting, 320 rollouts', work: { does: 'sleep', amount: 100 }, tasks: 320, concurrency: PLACES },
  { title: '3 s of waiting, 32 rollouts', work: { does: 'sleep', amount: 3_000 }, tasks: 32, concurrency: PLACES },
  { title: '60 s of waiting, 32 rollouts', work: { does: 'sleep', amount: LONG_MS }, tasks: 32, concurrency: PLACES },
  { title: '0.2 s of computing, 60 rollouts', work: undefined, tasks: 60, concurrency: 1 },
] as const;

/** What docs/workers.md shows: no goal but that nothing fails. `--only 60` measures one line. */
const curve: BenchRow = {
  name: 'workers-curve',
  what: `seconds for the same rollouts: one process with as many places, then 1, 2, 4, 8 workers of ${PLACES} places (1 if they compute)`,
  goal: 'none',
  async run(say, only = '') {
    for (const { title, work = computing(), ...size } of CURVE.filter(({ title }) => title.startsWith(only))) {
      const cell = async (workers: number) => {
        const crowd: Crowd = { work, ...size, workers };
        const there = await timed(crowd);
        return `${workers}: ${there} (one process ${await timed({ ...crowd, workers: 0, width: workers * size.concurrency })})`;
      };
      const cells: string[] = [];
      // Long waits do not disturb each other, and would take half an hour one after the other.
      if (work.amount === LONG_MS) cells.push(...(await Promise.all(COUNTS.map(cell))));
      else for (const workers of COUNTS) cells.push(await cell(workers));
      say(`${title}: ${cells.join(', ')}`);
    }
    return { measured: 'see the lines above', holds: true, figures: {} };
  },
};

const timed = async (crowd: Crowd) => inSeconds((await measureCrowd(crowd)).ms);
const inSeconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

export const workers: readonly BenchRow[] = [twoOnTwoCores, memoryOfMany, addedCpu, killedWorker, curve];
