import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeLongJournal } from '../long-journal.ts';
import type { BenchRow, Measured } from '../row.ts';

const cli = new URL('../../.cache/package/bin/skillopt.mjs', import.meta.url).pathname;
/** Says on its last line how much memory the process has taken at most, in kilobytes. */
const MEASURE = 'process.on("exit", () => console.error(`\\n` + process.resourceUsage().maxRSS))';

const STEPS = 8000;
const LIMITS = { runs: 2, show: 2, diff: 3 } as const;
const MOST_MB = 200;

/** How long people wait for a run of many weeks. */
export const longJournal = readingRow(`a journal of ${STEPS} steps: runs, show, diff`, 1);

/** The same of a run that is under way or was killed: when almost as much has been added as a run lets pass without keeping its state. */
export const killedJournal = readingRow('the same, killed when its state was last kept at 92 %', 0.92);

function readingRow(what: string, keptAt: number): BenchRow {
  return {
    name: 'journal',
    what,
    goal: `≤ ${Object.values(LIMITS).join(', ')} s; ≤ ${MOST_MB} MB`,
    async run(say) {
      const folder = mkdtempSync(join(tmpdir(), 'skillopt-bench-'));
      try {
        const path = join(folder, 'runs', 'long', 'events.jsonl');
        await writeLongJournal({ path, steps: STEPS, tasks: 48, batch: 40, keptAt });
        say(`${Math.round(statSync(path).size / 1e6)} MB`);
        return read(folder);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  };
}

function read(folder: string): Measured {
  const [runs, show, diff] = [['runs'], ['show', 'long'], ['diff', 'long']].map((args) => time(args, folder));
  const seconds = [runs!, show!, diff!].map(({ s }) => s);
  const mb = Math.max(runs!.mb, show!.mb, diff!.mb);
  const holds = Object.values(LIMITS).every((limit, index) => seconds[index]! <= limit) && mb <= MOST_MB;
  const measured = `${seconds.map((s) => s.toFixed(1)).join(', ')} s; ${Math.round(mb)} MB`;
  return { measured, holds, figures: { seconds, mb } };
}

function time(args: readonly string[], cwd: string): { s: number; mb: number } {
  const start = performance.now();
  const measured = `data:text/javascript,${encodeURIComponent(MEASURE)}`;
  const { status, stderr } = spawnSync(process.execPath, ['--import', measured, cli, ...args], {
    cwd,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`skillopt ${args.join(' ')} ended with ${status}: ${stderr}`);
  return { s: (performance.now() - start) / 1000, mb: Number(stderr.trimEnd().split('\n').at(-1)) / 1024 };
}

const WIDE = { steps: 1000, tasks: 10_000, batch: 40 };
const MOST_JOURNAL_MB = 100;

/** Whether a journal stays small enough to keep. */
export const wideJournal: BenchRow = {
  name: 'journal',
  what: `the journal of ${WIDE.steps} steps × ${WIDE.tasks} validation tasks, all met each time`,
  goal: `< ${MOST_JOURNAL_MB} MB`,
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'skillopt-bench-'));
    try {
      const path = join(folder, 'events.jsonl');
      await writeLongJournal({ path, ...WIDE });
      const mb = statSync(path).size / 1e6;
      return { measured: `${mb.toFixed(1)} MB`, holds: mb < MOST_JOURNAL_MB, figures: { mb } };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};
