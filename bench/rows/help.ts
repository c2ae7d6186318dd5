import { spawnSync } from 'node:child_process';
import { type BenchRow, median } from '../row.ts';

const TIMES = 20;
const cli = new URL('../../.cache/package/bin/skillopt.mjs', import.meta.url).pathname;

/** How long people wait for the first word. */
export const help = firstWord('help', 3);

/** How long scripts wait that ask which version is there. */
export const version = firstWord('version', 1.3);

function firstWord(name: string, most: number): BenchRow {
  return {
    name,
    what: `compiled skillopt --${name}`,
    goal: `≤ ${most} × node -e 0`,
    async run() {
      const bare: number[] = [];
      const ours: number[] = [];
      for (let i = 0; i < TIMES; i++) {
        bare.push(timeNode(['-e', '0']));
        ours.push(timeNode([cli, `--${name}`]));
      }
      const ratio = median(ours) / median(bare);
      const measured = `${ratio.toFixed(2)} × (${median(ours).toFixed(0)} ms against ${median(bare).toFixed(0)} ms)`;
      return { measured, holds: ratio <= most, figures: { ratio, ours, bare } };
    },
  };
}

function timeNode(args: readonly string[]): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - start;
}
