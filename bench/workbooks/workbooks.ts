import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workbookFile } from '../../test/support/workbook-file.ts';
import type { BenchRow } from '../row.ts';

const COLUMNS = 8;
const [VALUES, COMPARED] = [400_000, 96_000];
const ROUNDS = 3;
const MOST = { readMs: 5_000, compareMs: 2_000, megabytes: 500 };

/** What a script in a process of its own found, and what it took. */
type Taken = { readonly found: number; readonly ms: number; readonly cpuMs: number; readonly peakBytes: number };

/** How long the largest workbooks take that we read. The yardstick is the package that reads them, on its own. */
export const workbooks: BenchRow = {
  name: 'workbooks',
  what: `a workbook of ${VALUES.toLocaleString('en-US')} values read; ${COMPARED.toLocaleString('en-US')} cells compared, all equal and all different`,
  goal: `≤ ${MOST.readMs / 1_000} s; ≤ ${MOST.compareMs / 1_000} s; peak ≤ ${MOST.megabytes} MB (best of ${ROUNDS})`,
  async run(say) {
    const folder = await mkdtemp(join(tmpdir(), 'skillopt-workbooks-'));
    try {
      const paths = { large: VALUES, right: COMPARED, equal: COMPARED, different: COMPARED };
      for (const [name, count] of Object.entries(paths))
        await writeFile(join(folder, name), workbook(count, name === 'different' ? 0.5 : 0));
      const best = async (...args: readonly string[]) => {
        const rounds: Taken[] = [];
        for (let round = 0; round < ROUNDS; round++) rounds.push(await runApart(folder, args));
        const [fastest] = rounds.toSorted((one, other) => one.ms - other.ms);
        const taken = { ...fastest!, megabytes: Math.max(...rounds.map(({ peakBytes }) => peakBytes)) / 1e6 };
        say(
          `${args.join(' ')}: ${taken.ms.toFixed(0)} ms (processor ${taken.cpuMs.toFixed(0)} ms), peak ${taken.megabytes.toFixed(0)} MB`,
        );
        return taken;
      };
      const read = await best('read', 'large');
      const alone = await best('package', 'large');
      const equal = await best('compare', 'right', 'equal');
      const different = await best('compare', 'right', 'different');
      return summarize({ read, alone, equal, different });
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

/** Numbers and texts by turns, each another one. */
function workbook(count: number, more: number): Buffer {
  const value = (index: number) => (index % 2 === 0 ? index / 7 + more : `text ${index + more}`);
  const rows = Array.from({ length: count / COLUMNS }, (_, row) =>
    Array.from({ length: COLUMNS }, (_, column) => value(row * COLUMNS + column)),
  );
  return workbookFile([{ name: 'Sheet1', rows }]);
}

async function runApart(folder: string, [work, ...names]: readonly string[]): Promise<Taken> {
  const script = new URL('./workbooks-run.ts', import.meta.url).pathname;
  const args = ['--import', 'tsx', script, work!, ...names.map((name) => join(folder, name))];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [taken] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (typeof taken !== 'object') throw new Error(`${work} ended with ${taken}`);
  return taken as Taken;
}

type Best = Taken & { readonly megabytes: number };

function summarize(all: Readonly<Record<'read' | 'alone' | 'equal' | 'different', Best>>) {
  const { read, alone, equal, different } = all;
  const compareMs = Math.max(equal.ms, different.ms);
  const megabytes = Math.max(read.megabytes, equal.megabytes, different.megabytes);
  const isRight = read.found === VALUES && equal.found === 0 && different.found === COMPARED;
  const times = (read.cpuMs / alone.cpuMs).toFixed(2);
  return {
    measured: `${(read.ms / 1_000).toFixed(1)} s (${times} times the package alone); ${(compareMs / 1_000).toFixed(2)} s; ${megabytes.toFixed(0)} MB`,
    holds: isRight && read.ms <= MOST.readMs && compareMs <= MOST.compareMs && megabytes <= MOST.megabytes,
    figures: Object.fromEntries(
      Object.entries(all).flatMap(([name, taken]) => [
        [`${name} ms`, taken.ms],
        [`${name} cpu ms`, taken.cpuMs],
        [`${name} MB`, taken.megabytes],
      ]),
    ),
  };
}
