import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import type { BenchRow } from '../row.ts';

const ROWS = 100_000;
const [MOST_MS, MOST_MEGABYTES] = [5_000, 300];

type Reading = { readonly ms: number; readonly cpuMs: number; readonly count: number; readonly peakBytes: number };

/** How long the largest files of tasks take that anybody brings, without ids, so that each row is hashed. */
export const taskFiles: BenchRow = {
  name: 'task-files',
  what: `${ROWS.toLocaleString('en-US')} tasks as CSV and as Parquet, without ids`,
  goal: `≤ ${MOST_MS / 1_000} s, peak ≤ ${MOST_MEGABYTES} MB`,
  async run(say) {
    const folder = await mkdtemp(join(tmpdir(), 'skillopt-task-files-'));
    try {
      const readings = [];
      for (const name of await writeFiles(folder)) {
        const { ms, cpuMs, count, peakBytes } = await readApart(join(folder, name));
        say(
          `${name}: ${Math.round(ms)} ms (processor ${Math.round(cpuMs)} ms), peak ${Math.round(peakBytes / 1e6)} MB, ${count} tasks`,
        );
        readings.push({ name, ms, cpuMs, count, megabytes: peakBytes / 1e6 });
      }
      return summarize(readings);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

/** About 160 bytes each, every one different. */
const questions = Array.from({ length: ROWS }, (_, i) => `${i}. ${`What is said about number ${i}? `.repeat(4)}`);
const answers = Array.from({ length: ROWS }, (_, i) => `answer ${i * 7}`);

async function writeFiles(folder: string): Promise<readonly string[]> {
  const lines = questions.map((question, i) => `"${question}",${answers[i]}`);
  await writeFile(join(folder, 'tasks.csv'), `question,answer\n${lines.join('\n')}\n`);
  const columnData = [
    { name: 'question', data: questions, type: 'STRING' as const },
    { name: 'answer', data: answers, type: 'STRING' as const },
  ];
  await writeFile(join(folder, 'tasks.parquet'), Buffer.from(parquetWriteBuffer({ columnData })));
  return ['tasks.csv', 'tasks.parquet'];
}

/** In a process of its own, whose peak is known. */
async function readApart(path: string): Promise<Reading> {
  const script = new URL('./read.mjs', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [reading] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (typeof reading !== 'object') throw new Error(`reading ${path} ended with ${reading}`);
  return reading as Reading;
}

type Named = Omit<Reading, 'peakBytes'> & { readonly name: string; readonly megabytes: number };

function summarize(readings: readonly Named[]) {
  const shown = readings.map(({ name, ms, megabytes }) => {
    return `${name.replace('tasks.', '')} ${(ms / 1_000).toFixed(1)} s, ${megabytes.toFixed(0)} MB`;
  });
  const holds = readings.every(
    ({ ms, megabytes, count }) => ms <= MOST_MS && megabytes <= MOST_MEGABYTES && count === ROWS,
  );
  const figures = Object.fromEntries(
    readings.flatMap(({ name, ms, cpuMs, megabytes }) => [
      [`${name} ms`, ms],
      [`${name} cpu ms`, cpuMs],
      [`${name} MB`, megabytes],
    ]),
  );
  return { measured: shown.join('; '), holds, figures };
}
