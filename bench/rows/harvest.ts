import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SESSIONS, writeCorpus } from '../harvest/corpus.ts';
import type { BenchRow } from '../row.ts';

const TIMES = 3;
const [LEAST_RATIO, MOST_MEGABYTES] = [2, 150];

type Reading = { readonly ms: number; readonly cpuMs: number; readonly count: number; readonly peakBytes: number };

/** Whether most of a transcript is passed over rather than parsed. */
export const harvest: BenchRow = {
  name: 'harvest',
  what: `200 MB of transcripts in ${SESSIONS} sessions: full read against JSON.parse of every line`,
  goal: `≥ ${LEAST_RATIO} × faster, peak ≤ ${MOST_MEGABYTES} MB`,
  async run(say) {
    const home = await mkdtemp(join(tmpdir(), 'skillopt-bench-'));
    try {
      writeCorpus(home);
      return measured(await readAlternately(home, say));
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  },
};

type Readings = { readonly harvests: readonly Reading[]; readonly parses: readonly Reading[] };

/** In turn, so that both meet the same load; each a few times in its process. */
async function readAlternately(home: string, say: (progress: string) => void): Promise<Readings> {
  const [harvests, parses]: [Reading[], Reading[]] = [[], []];
  await readIn('harvest', home); // the files are in the system's cache from here on
  for (let time = 0; time < TIMES; time++) {
    parses.push(await readIn('parse', home));
    harvests.push(await readIn('harvest', home));
    say(`parse ${parses.at(-1)!.ms.toFixed(0)} ms, harvest ${harvests.at(-1)!.ms.toFixed(0)} ms`);
  }
  return { harvests, parses };
}

async function readIn(way: 'harvest' | 'parse', home: string): Promise<Reading> {
  const script = new URL('./harvest-run.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--import', 'tsx', script, way, home], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [[reading]] = await Promise.all([once(child, 'message') as Promise<[Reading]>, once(child, 'exit')]);
  return reading;
}

/** The best of each, since other programs on the machine only ever add to a time. */
function measured({ harvests, parses }: Readings) {
  const best = (readings: readonly Reading[], key: 'ms' | 'cpuMs') =>
    Math.min(...readings.map((reading) => reading[key]));
  const [harvestMs, parseMs] = [best(harvests, 'ms'), best(parses, 'ms')];
  const [ratio, cpuRatio] = [parseMs / harvestMs, best(parses, 'cpuMs') / best(harvests, 'cpuMs')];
  const peakMegabytes = Math.max(...harvests.map(({ peakBytes }) => peakBytes)) / 1e6;
  const isComplete = harvests.every(({ count }) => count === SESSIONS);
  const times = `${harvestMs.toFixed(0)} against ${parseMs.toFixed(0)} ms; ${cpuRatio.toFixed(1)} × by CPU time`;
  return {
    measured: `${ratio.toFixed(1)} × (${times}), peak ${peakMegabytes.toFixed(0)} MB`,
    holds: isComplete && ratio >= LEAST_RATIO && peakMegabytes <= MOST_MEGABYTES,
    figures: { harvestMs, parseMs, ratio, cpuRatio, peakMegabytes },
  };
}
