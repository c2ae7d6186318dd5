import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { attemptViews } from '../src/core/run/index.ts';
import { eventsOf, nextEvent } from '../test/support/page/served-runs.ts';
import { writeLongJournal } from './long-journal.ts';
import type { BenchRow, Measured } from './row.ts';

const cli = new URL('../.cache/package/bin/skillopt.mjs', import.meta.url).pathname;

const MOST_MB = 150;
const LONG = { steps: 4_650, tasks: 48, batch: 40, mostCpuS: 2 };
const LIVE = { tabs: 5, events: 148, gapMs: 50, mostMs: 300 };
const ATTEMPTS = { files: 200, each: 200, mostMs: 300 };

/** A run in a folder of its own, and a server for it in another process. */
async function withServer(
  make: (run: string) => Promise<void>,
  measure: (server: Awaited<ReturnType<typeof startServer>>, run: string) => Promise<Measured>,
): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'skillopt-bench-'));
  const run = join(folder, 'runs/big');
  mkdirSync(run, { recursive: true });
  let child: ChildProcess | undefined;
  try {
    await make(run);
    const server = await startServer(folder);
    child = server.child;
    return await measure(server, run);
  } finally {
    child?.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
}

async function startServer(cwd: string) {
  const child = spawn(process.execPath, [cli, 'ui', '--no-open', '--port', '0', '--root', 'runs'], { cwd });
  let text = '';
  for await (const part of child.stdout) {
    text += part;
    if (text.includes('\n')) break;
  }
  const url = text.trim();
  const [cookie] = (await fetch(url, { redirect: 'manual' })).headers.getSetCookie()[0]!.split(';');
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(new URL(`/api/runs/big${path}`, url), { headers: { cookie: cookie!, ...headers } });
  return {
    child,
    ask,
    stream: async (headers: Record<string, string> = {}) => eventsOf(await ask('/stream', headers)),
    cpuS: () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      return (Number(fields[11]) + Number(fields[12])) / 100;
    },
    /** The most that it has ever taken. */
    mb: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024,
  };
}

const longStream: BenchRow = {
  name: 'page-server',
  what: `the first page of a run of ${LONG.steps} steps`,
  goal: `≤ ${LONG.mostCpuS} s CPU; ≤ ${MOST_MB} MB; nothing again after a reconnect`,
  run: (say) =>
    withServer(
      (run) => writeLongJournal({ path: join(run, 'events.jsonl'), ...LONG }),
      async (server, run) => {
        say(`${Math.round(statSync(join(run, 'events.jsonl')).size / 1e6)} MB`);
        const before = server.cpuS();
        const { id, data } = await nextEvent(await server.stream(), 'page');
        const [cpuS, mb] = [server.cpuS() - before, server.mb()];
        const again = await Promise.race([(await server.stream({ 'last-event-id': id! })).next(), delay(3_000)]);
        const repeated = again ? JSON.stringify(again).length : 0;
        const measured = `${cpuS.toFixed(1)} s; ${Math.round(mb)} MB; page of ${(data.length / 1e6).toFixed(1)} MB; ${repeated} bytes again`;
        const holds = cpuS <= LONG.mostCpuS && mb <= MOST_MB && repeated === 0;
        return { measured, holds, figures: { cpuS, mb, repeated } };
      },
    ),
};

const liveTabs: BenchRow = {
  name: 'page-server',
  what: `${LIVE.tabs} tabs, ${LIVE.events} events ${LIVE.gapMs} ms apart`,
  goal: `all arrive; 95 % within ${LIVE.mostMs} ms`,
  run: () => {
    let lines: string[] = [];
    const make = async (run: string) => {
      const journal = join(run, 'events.jsonl');
      await writeLongJournal({ path: journal, steps: 40, tasks: 48, batch: 40 });
      lines = readFileSync(journal, 'utf8').split(/(?<=\n)/);
      writeFileSync(journal, lines.slice(0, -LIVE.events).join(''));
    };
    return withServer(make, async (server, run) => {
      const writtenAt: number[] = [];
      const first = lines.length - LIVE.events;
      const delays: number[] = [];
      const tabs = Array.from({ length: LIVE.tabs }, async () => {
        const events = await server.stream();
        await nextEvent(events, 'page');
        return async () => {
          for (let seen = first; seen < lines.length; ) {
            const upTo: number = JSON.parse((await nextEvent(events, 'change')).data).lines;
            for (; seen < upTo; seen += 1) delays.push(performance.now() - writtenAt[seen]!);
          }
        };
      });
      const watching = (await Promise.all(tabs)).map((watch) => watch());
      for (let line = first; line < lines.length; line += 1) {
        writtenAt[line] = performance.now();
        appendFileSync(join(run, 'events.jsonl'), lines[line]!);
        await delay(LIVE.gapMs);
      }
      await Promise.race([Promise.all(watching), delay(10_000)]);
      const sorted = delays.sort((a, b) => a - b);
      const [p50, p95] = [0.5, 0.95].map(
        (share) => sorted[Math.floor(share * sorted.length)] ?? Number.POSITIVE_INFINITY,
      );
      const holds = delays.length === LIVE.tabs * LIVE.events && p95! <= LIVE.mostMs;
      const measured = `${delays.length} of ${LIVE.tabs * LIVE.events}; p50 ${Math.round(p50!)} ms, p95 ${Math.round(p95!)} ms`;
      return { measured, holds, figures: { arrived: delays.length, p50: p50!, p95: p95! } };
    });
  },
};

const oneAttempt: BenchRow = {
  name: 'page-server',
  what: `one attempt of ${ATTEMPTS.files} × ${ATTEMPTS.each} in files`,
  goal: `≤ ${ATTEMPTS.mostMs} ms; ≤ ${MOST_MB} MB`,
  run: (say) =>
    withServer(writeAttempts, async (server) => {
      await server.ask('');
      const times: number[] = [];
      for (const step of ['0001', '0100', '0200']) {
        const start = performance.now();
        const answer = await server.ask(`/attempts/steps%2Fstep_${step}%2Frollout_results/150`);
        if (!(await answer.text()).includes('"task":"task-150"'))
          throw new Error('the attempt is not the one that was asked for');
        times.push(performance.now() - start);
      }
      const list = performance.now();
      await (await server.ask('/attempts?task=task-7')).text();
      say(`the attempts at one task: ${Math.round(performance.now() - list)} ms`);
      const [ms, mb] = [Math.max(...times), server.mb()];
      const measured = `${times.map((time) => Math.round(time)).join(', ')} ms; ${Math.round(mb)} MB`;
      return { measured, holds: ms <= ATTEMPTS.mostMs && mb <= MOST_MB, figures: { times, mb } };
    }),
};

/** 158 MB of results, beside a journal that does not matter here. */
async function writeAttempts(run: string): Promise<void> {
  await writeLongJournal({ path: join(run, 'events.jsonl'), steps: 2, tasks: 48, batch: 40 });
  const text = 'what was said and done, word by word. '.repeat(100);
  const results = Array.from({ length: ATTEMPTS.each }, (_, place) => ({
    id: `task-${place}`,
    hard: place % 2,
    soft: 0.5,
    question: text,
    predictedAnswer: 'x',
  }));
  for (let step = 1; step <= ATTEMPTS.files; step += 1) {
    const name = `steps/step_${String(step).padStart(4, '0')}/rollout_results`;
    for (const [file, content] of Object.entries(attemptViews(name, results))) {
      mkdirSync(dirname(join(run, file)), { recursive: true });
      writeFileSync(join(run, file), content);
    }
  }
}

export const pageServer: readonly BenchRow[] = [longStream, liveTabs, oneAttempt];
