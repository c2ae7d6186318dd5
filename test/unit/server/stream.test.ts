import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveRuns } from 'skillopt/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changePage, type PageChange, type Problem, type RunPage } from '../../../src/core/page/index.ts';
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
  const journal = join(folder.root, name, 'events.jsonl');
  writeFileSync(journal, lines.slice(0, count).join(''));
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
});
