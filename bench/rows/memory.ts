import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { BenchRow } from '../row.ts';

const STEPS = 500;
const megabytes = (bytes: number) => Math.round(bytes / 1e6);

/** Whether a long run forgets what it need not remember. */
export const memory: BenchRow = {
  name: 'memory',
  what: `${STEPS} steps × 40 rollouts, 20 kB trajectories: memory after gc`,
  goal: '≤ step 10 + 200 MB',
  async run(say) {
    const script = new URL('./memory-run.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', script, String(STEPS)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const samples: { step: number; rss: number; heap: number }[] = [];
    child.on('message', (sample: (typeof samples)[number]) => {
      samples.push(sample);
      say(`step ${sample.step}: rss ${megabytes(sample.rss)} MB, heap ${megabytes(sample.heap)} MB`);
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`the run ended with ${code}`);
    const [first, last] = [samples.find(({ step }) => step === 10)!, samples.at(-1)!];
    const growth = megabytes(last.rss - first.rss);
    const heapGrowth = megabytes(last.heap - first.heap);
    const measured = `+${growth} MB rss, ${heapGrowth >= 0 ? '+' : ''}${heapGrowth} MB heap at step ${last.step}`;
    return { measured, holds: Math.max(growth, heapGrowth) <= 200, figures: { growth, heapGrowth } };
  },
};
