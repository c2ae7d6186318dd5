import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { serveRuns } from 'skillopt/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  changePage,
  type DoingPage,
  type PageChange,
  type Problem,
  type RunPage,
} from '../../../src/core/page/index.ts';
import { LEDGER_FILE, openLedger } from '../../../src/stores/index.ts';
import { eventsOf, nextEvent, runsFolder, trainSimulated } from '../../support/page/served-runs.ts';

let folder: ReturnType<typeof runsFolder>;
let lines: string[];
beforeAll(async () => {
  folder = runsFolder();
  await trainSimulated(join(folder.root, 'demo'));
  lines = readFileSync(join(folder.root, 'demo/events.jsonl'), 'utf8').split(/(?<=\n)/);
});
afterAll(() => folder[Symbol.dispose]());

/** A run of which so many lines are written, served over HTTP. */
async function serveBegun(name: string, count: number) {
  mkdirSync(join(folder.root, name));
  writeFileSync(join(folder.root, name, 'events.jsonl'), lines.slice(0, count).join(''));
  return serveFolder(name);
}

async function serveFolder(name: string) {
  const journal = join(folder.root, name, 'events.jsonl');
  const server = await serveRuns({ root: folder.root });
  const { origin, port, searchParams } = new URL(server.url);
  const cookie = `skillopt-${port}=${searchParams.get('token')}`;
  const ask = (path: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(`${origin}/api/runs/${name}${path}`, { headers: { cookie, ...headers }, ...(signal && { signal }) });
  return {
    journal,
    page: async () => (await (await ask('')).json()) as RunPage,
    stream: async (headers: Record<string, string> = {}) => eventsOf(await ask('/stream', headers)),
    append: (from: number, to: number) => appendFileSync(journal, lines.slice(from, to).join('')),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

describe('the stream of a run', () => {
  it('sends the page once, then changes that give the page of the server', async () => {
    await using run = await serveBegun('growing', 3);
    const events = await run.stream();
    let page: RunPage = JSON.parse((await nextEvent(events, 'page')).data);
    expect(page.lines).toBe(3);
    for (let count = 3; count < lines.length; count += 4) {
      run.append(count, count + 4);
      while (page.lines < Math.min(count + 4, lines.length)) {
        const { event, data } = await nextEvent(events, 'page', 'change');
        expect(event).toBe('change');
        page = changePage(page, JSON.parse(data) as PageChange);
      }
    }
    expect(page).toEqual(await run.page());
    expect(page.figures.summary.isDone).toBe(true);
  });

  it('sends nothing again to a browser that has the last event', async () => {
    await using run = await serveBegun('resumed', 10);
    const { id } = await nextEvent(await run.stream(), 'page');
    expect(id).toMatch(/^10(\.|$)/);
    const events = await run.stream({ 'last-event-id': id! });
    const others = await run.stream({ 'last-event-id': '9' });
    expect((await nextEvent(others, 'page', 'change')).event).toBe('page');
    run.append(10, 12);
    const { value } = await events.next();
    expect(value).toMatchObject({ event: 'change' });
    expect(JSON.parse(value!.data).lines).toBe(12);
  });

  it('tells what is wrong, keeps what it had, and recovers', async () => {
    await using run = await serveBegun('damaged', 8);
    const events = await run.stream();
    await nextEvent(events, 'page');
    appendFileSync(run.journal, '{"type":"step-end"}\n');
    const problem: Problem = JSON.parse((await nextEvent(events, 'problem')).data);
    expect(problem.message).toMatch(/events\.jsonl:9/);
    expect(problem.message).not.toContain(folder.root);
    writeFileSync(run.journal, lines.slice(0, 9).join(''));
    expect(JSON.parse((await nextEvent(events, 'change')).data).lines).toBe(9);
    renameSync(join(folder.root, 'damaged'), join(folder.root, 'elsewhere'));
    expect(JSON.parse((await nextEvent(events, 'problem')).data).message).toContain('is gone');
    renameSync(join(folder.root, 'elsewhere'), join(folder.root, 'damaged'));
    expect(JSON.parse((await nextEvent(events, 'change')).data).lines).toBe(9);
  });

  it('shows a run that was replaced by another from its beginning', async () => {
    await using run = await serveBegun('replaced', 12);
    const events = await run.stream();
    let page: RunPage = JSON.parse((await nextEvent(events, 'page')).data);
    writeFileSync(`${run.journal}.new`, lines.slice(0, 5).join(''));
    renameSync(`${run.journal}.new`, run.journal);
    page = changePage(page, JSON.parse((await nextEvent(events, 'change')).data));
    expect(page).toEqual(await run.page());
    expect(page.lines).toBe(5);
  });

  it('tells what a run is doing, and how many calls of its process wait', async () => {
    const path = join(folder.root, 'resumed-after-a-kill');
    mkdirSync(path);
    // A process that was killed: it has sent 500 calls, and closed nothing.
    const killed = await openLedger(join(path, LEDGER_FILE));
    killed.enter({ stage: 'rollout', inFlight: { calls: 500, totalTokens: 9_000, costUsd: 0 } });
    const stop = new AbortController();
    const training = trainSimulated(path, { latencyMs: 40, signal: stop.signal }).catch(() => undefined);
    await using run = await serveFolder('resumed-after-a-kill');
    while (!existsSync(join(path, 'events.jsonl'))) await delay(5);
    const events = await run.stream();
    let doing: DoingPage;
    do doing = JSON.parse((await nextEvent(events, 'progress')).data);
    while (!doing.progress || doing.waiting === 0);
    expect(doing.progress).toMatchObject({
      phase: expect.any(String),
      total: expect.any(Number),
      done: expect.any(Number),
    });
    expect(doing.waiting).toBeLessThan(100);
    const { figures } = await run.page();
    expect(figures.cost.total.mayHaveBeen).toMatchObject({ calls: 500, tokens: 9_000 });
    stop.abort();
    await training;
    do doing = JSON.parse((await nextEvent(events, 'progress')).data);
    while (doing.progress);
    expect(doing).toEqual({ progress: null, waiting: 0, retries: 0, notices: [] });
  });
});
