import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeReport } from 'skillopt/server';
import { afterAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import type { ReportData, RunPage } from '../../../src/core/page/index.ts';
import { journalLines, type RunEvent } from '../../../src/public/run.ts';
import { captureIo } from '../../support/capture-io.ts';
import { randomRun } from '../../support/page/random-runs.ts';
import { openPages, runsFolder } from '../../support/page/served-runs.ts';

/** 1,000 take some minutes: RUNS=1000. */
const RUNS = Number(process.env.RUNS ?? 120);
const folder = runsFolder();
afterAll(() => folder[Symbol.dispose]());

/** All numbers in a value, each with the way to it. */
function numbersIn(value: unknown, way = ''): [way: string, number: number][] {
  if (typeof value === 'number') return [[way, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, entry]) => numbersIn(entry, `${way}/${name}`));
}

function writeRun(name: string, events: readonly RunEvent[]): string {
  const path = join(folder.root, name);
  mkdirSync(path, { recursive: true });
  const { write } = journalLines();
  writeFileSync(join(path, 'events.jsonl'), events.map((event) => `${write(event)}\n`).join(''));
  return path;
}

const dataIn = (html: string): ReportData =>
  JSON.parse(/<script type="application\/json" id="skillopt-data">([\s\S]*?)<\/script>/.exec(html)![1]!);

describe(`${RUNS} random runs`, () => {
  it('have the same numbers on the page, in the report and in show --json', { timeout: 600_000 }, async () => {
    const pages = openPages({ root: folder.root });
    const io = { cwd: join(folder.root, '..') };
    const different: string[] = [];
    let count = 0;
    for (let seed = 0; seed < RUNS; seed += 1) {
      const name = `run-${seed}`;
      const path = writeRun(name, await randomRun(seed));
      const { figures } = await pages.json<RunPage>(`/api/runs/${name}`);
      const out = join(folder.root, 'report.html');
      await writeReport(path, { out, attempts: 'none' });
      const reported = dataIn(readFileSync(out, 'utf8')).pages[name]!.figures;
      const terminal = captureIo(io);
      expect(await runCli(['show', path, '--json'], terminal)).toBe(0);
      const { figures: rest, verdict, edits, lines, ...shown } = JSON.parse(terminal.out());
      const summary = Object.fromEntries(Object.keys(figures.summary).map((key) => [key, shown[key]]));
      const numbers = [figures, reported, { ...rest, verdict, edits, lines, summary }].map((one) =>
        JSON.stringify(numbersIn(one).sort(([a], [b]) => (a < b ? -1 : 1))),
      );
      if (new Set(numbers).size > 1) different.push(name);
      count += numbersIn(figures).length;
    }
    expect(different).toEqual([]);
    expect(count).toBeGreaterThan(100 * RUNS);
  });
});
