import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { emptyRun, reduce, runDirectory } from 'skillopt';
import { verdictOf } from 'skillopt/run';
import { expect, it } from 'vitest';
import { readJournal } from '../../src/stores/run/journal.ts';
import { programArgs } from '../support/compiled.ts';
import { tempFolder } from '../support/temp-folder.ts';

type Row = { readonly key: string; readonly value: unknown; readonly step: number };
type TrackedRun = {
  info: { run_id: string; run_name: string; status: string; end_time?: number };
  data: { metrics: Row[]; params: Row[]; tags: Row[] };
};

/** A server on a free loopback port; `await using` closes it. */
async function serve(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const stop = () => {
    server.closeAllConnections();
    return new Promise<void>((done) => server.close(() => done()));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: stop };
}

/** Takes runs as MLflow does: parameters never change, metrics are added, and a search shows the latest of each name. */
async function startTracker() {
  const runs: TrackedRun[] = [];
  const asked: { readonly path: string; readonly token: string | undefined }[] = [];
  const far = { isRefusing: false, onCreate: () => {} };
  const answers: Record<string, (body: never) => object | undefined> = {
    create({ run_name, tags }: { run_name: string; tags: Row[] }) {
      const info = { run_id: `run-${runs.length + 1}`, run_name, status: 'RUNNING' };
      runs.push({ info, data: { metrics: [], params: [], tags } });
      far.onCreate();
      return { run: runs.at(-1) };
    },
    search({ filter }: { filter: string }) {
      const [, key, value] = /^tags\."([^"]+)" = '([^']+)'$/.exec(filter)!;
      const found = runs.find(({ data }) => data.tags.some((tag) => tag.key === key && tag.value === value));
      if (!found) return {};
      const { metrics, ...data } = found.data;
      const latest = new Map(metrics.map((row) => [row.key, row]));
      return { runs: [{ info: found.info, data: { ...data, metrics: [...latest.values()] } }] };
    },
    'log-batch'({ run_id, metrics = [], params = [] }: { run_id: string; metrics?: Row[]; params?: Row[] }) {
      const { data } = runs.find(({ info }) => info.run_id === run_id)!;
      if (params.length > 0 && data.params.length > 0) return undefined;
      data.metrics.push(...metrics);
      data.params.push(...params);
      return {};
    },
    'set-tag'({ run_id, ...tag }: { run_id: string } & Row) {
      runs.find(({ info }) => info.run_id === run_id)!.data.tags.push(tag);
      return {};
    },
    update({ run_id, ...changed }: { run_id: string }) {
      Object.assign(runs.find(({ info }) => info.run_id === run_id)!.info, changed);
      return {};
    },
  };
  const server = await serve(async (request, response) => {
    const path = request.url!.replace('/api/2.0/mlflow/runs/', '');
    asked.push({ path, token: request.headers.authorization });
    const isJson = request.method === 'POST' && request.headers['content-type'] === 'application/json';
    const answer = far.isRefusing || !isJson ? undefined : answers[path]?.((await bodyOf(request)) as never);
    response.writeHead(answer ? 200 : 400, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error_code: 'INVALID_PARAMETER_VALUE' }));
  });
  return Object.assign(server, { runs, asked, far });
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
}

/** The example as a program. */
function trackRun(folder: string, env: Readonly<Record<string, string>>) {
  const child = startTracking(folder, env);
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  return new Promise<{ code: number | null; out: string; err: string }>((done) =>
    child.on('close', (code) => done({ code, out, err })),
  );
}

const startTracking = (folder: string, env: Readonly<Record<string, string>>) =>
  spawn(process.execPath, [...programArgs('examples/track-run.ts'), join(folder, 'run')], {
    env: { PATH: process.env.PATH, ...env },
  });

/** What the journal of a run says after its baseline, after each step and at its end: amounts as the sum of all lines so far. */
async function figuresOf(folder: string) {
  const events = await readJournal(join(folder, 'run/events.jsonl'));
  const state = events.reduce(reduce, emptyRun);
  const points = events.flatMap((event, at) => {
    const lines = events.slice(0, at + 1);
    const usages = lines.flatMap(({ usage }) => Object.values(usage));
    const sum = (name: 'input' | 'output' | 'costUsd') => usages.reduce((total, usage) => total + usage[name], 0);
    const { best, rollouts, history } = lines.reduce(reduce, emptyRun);
    const all = { score: best.score, rollouts, tokens: sum('input') + sum('output'), cost_usd: sum('costUsd') };
    if (event.type === 'baseline-end') return [{ ...all, score: event.score }];
    if (event.type === 'step-end') {
      const { candidateGateScore } = history.find(({ step }) => step === event.step)!;
      const accepted = event.action.startsWith('accept') ? 1 : 0;
      return [{ ...all, accepted, candidate_score: candidateGateScore }];
    }
    if (event.type !== 'run-end') return [];
    const { value, interval } = verdictOf(state).comparison!.gain!;
    return [{ ...all, gain: value, gain_low: interval.low, gain_high: interval.high }];
  });
  return { points, state };
}

/** The metrics of a tracked run by its steps, in the order in which they came. */
function pointsOf({ data }: TrackedRun) {
  const places = [...new Set(data.metrics.map(({ step }) => step))];
  expect(places).toEqual(places.map((_, place) => place));
  return places.map((place) => {
    const rows = data.metrics.filter(({ step }) => step === place);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length); // nothing came twice
    return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
  });
}

const findValue = (rows: readonly Row[], key: string) => rows.findLast((row) => row.key === key)?.value;

it('the tracker has the settings, each step in its order, and the verdict, as the journal has them', async () => {
  await using tracker = await startTracker();
  using folder = tempFolder();
  const { code, err } = await trackRun(folder.path, { TRACKER_URL: `${tracker.url}/`, TRACKER_TOKEN: 'dummy-token' });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const { points, state } = await figuresOf(folder.path);
  expect(points.length).toBeGreaterThan(4);
  expect(tracker.runs).toHaveLength(1);
  const { info, data } = tracker.runs[0]!;
  expect(pointsOf(tracker.runs[0]!)).toEqual(points);
  expect(info).toMatchObject({ run_name: 'run', status: 'FINISHED', end_time: expect.any(Number) });
  expect(findValue(data.tags, 'skillopt.verdict')).toBe(verdictOf(state).kind);
  expect(findValue(data.tags, 'skillopt.run')).toBe(`${state.startedAt} seed 42`);
  expect([findValue(data.params, 'batchSize'), findValue(data.params, 'env')]).toEqual(['8', 'simple-qa']);
  expect(JSON.stringify(data)).not.toContain(folder.path);
  expect(new Set(tracker.asked.map(({ token }) => token))).toEqual(new Set(['Bearer dummy-token']));
});

it('a resumed run continues the same run of the tracker, and brings what it missed', async () => {
  await using tracker = await startTracker();
  using folder = tempFolder();
  await trackRun(folder.path, { TRACKER_URL: tracker.url });
  const [tracked] = tracker.runs;
  const [last, before] = [tracked!.data.metrics.at(-1)!.step, tracked!.data.metrics];
  // As after a kill: the run was cut off in its last step, and of the step before the tracker had not heard.
  const journal = join(folder.path, 'run/events.jsonl');
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
  const cut = lines.findIndex((line) => line.includes('"step-end"') && line.includes(`"step":${last - 1}`));
  expect(cut).toBeGreaterThan(0);
  writeFileSync(journal, `${lines.slice(0, cut).join('\n')}\n`);
  tracked!.data.metrics = before.filter(({ step }) => step < last - 2);
  Object.assign(tracked!.info, { status: 'FAILED' });
  expect(await trackRun(folder.path, { TRACKER_URL: tracker.url })).toMatchObject({ code: 0, err: '' });
  expect(tracker.runs.map(({ info }) => [info.run_id, info.status])).toEqual([['run-1', 'FINISHED']]);
  expect(pointsOf(tracked!)).toEqual((await figuresOf(folder.path)).points);
  expect(tracker.asked.filter(({ path }) => path === 'create')).toHaveLength(1);
  // And a run that is over brings nothing twice.
  await trackRun(folder.path, { TRACKER_URL: tracker.url });
  expect(pointsOf(tracked!)).toEqual((await figuresOf(folder.path)).points);
});

/** As after a kill in the last step. Answers with the number of that step. */
function cutOff(folder: string): number {
  const journal = join(folder, 'run/events.jsonl');
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
  const cut = lines.findLastIndex((line) => line.includes('"step-end"'));
  expect(cut).toBeGreaterThan(0);
  writeFileSync(journal, `${lines.slice(0, cut).join('\n')}\n`);
  return JSON.parse(lines[cut]!).step;
}

it('a process that may not have the run says nothing about it', async () => {
  await using tracker = await startTracker();
  using folder = tempFolder();
  await trackRun(folder.path, { TRACKER_URL: tracker.url });
  cutOff(folder.path);
  const [{ info }] = tracker.runs as [TrackedRun];
  info.status = 'RUNNING';
  tracker.asked.length = 0;
  await using _atWork = await runDirectory(join(folder.path, 'run')).open();
  const second = await trackRun(folder.path, { TRACKER_URL: tracker.url });
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining('RUN_LOCKED') });
  expect([info.status, tracker.asked]).toEqual(['RUNNING', []]);
});

it('a run that is interrupted is no longer shown as running, and the next process continues it', async () => {
  await using tracker = await startTracker();
  using folder = tempFolder();
  const child = startTracking(folder.path, { TRACKER_URL: tracker.url });
  tracker.far.onCreate = () => child.kill('SIGINT');
  await new Promise((done) => child.on('close', done));
  expect(tracker.runs.map(({ info }) => info.status)).toEqual(['KILLED']);
  expect(await trackRun(folder.path, { TRACKER_URL: tracker.url })).toMatchObject({ code: 0, err: '' });
  expect(tracker.runs.map(({ info }) => info.status)).toEqual(['FINISHED']);
  expect(pointsOf(tracker.runs[0]!)).toEqual((await figuresOf(folder.path)).points);
});

it('a run ends as it would without a tracker, whatever the tracker does, and one line says so', async () => {
  await using tracker = await startTracker();
  tracker.far.isRefusing = true;
  await using silent = await serve(() => undefined);
  await using elsewhere = await startTracker();
  await using redirecting = await serve((request, response) =>
    response.writeHead(307, { location: elsewhere.url + request.url }).end(),
  );
  let sent = 0;
  await using endless = await serve(async (_, response) => {
    const chunk = ' '.repeat(100_000);
    for (response.writeHead(200); !response.closed; sent += chunk.length)
      if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  });
  const down = await serve(() => undefined);
  await down[Symbol.asyncDispose]();
  using alone = tempFolder();
  const { out } = await trackRun(alone.path, {});
  const troubles = {
    [tracker.url]: 'HTTP 400',
    [silent.url]: 'AbortError|TimeoutError',
    [down.url]: 'ECONNREFUSED',
    [redirecting.url]: 'HTTP 307',
    [endless.url]: 'TOO_LONG',
  };
  const starts = Object.entries(troubles).map(async ([TRACKER_URL, reason]) => {
    using folder = tempFolder();
    const ended = await trackRun(folder.path, { TRACKER_URL, TRACKER_TOKEN: 'dummy-token' });
    expect(ended).toEqual({
      code: 0,
      out,
      err: expect.stringMatching(new RegExp(`^the tracker fails \\((${reason})\\).*\n$`)),
    });
    expect(JSON.stringify(ended)).not.toContain('dummy-token');
  });
  await Promise.all(starts);
  expect(elsewhere.asked).toEqual([]);
  expect(tracker.asked.length).toBeLessThan(10); // of some fifty events
  expect(sent).toBeLessThan(20e6);
});

it('shows neither address nor token where either of them cannot be sent', async () => {
  using folder = tempFolder();
  const { code, err } = await trackRun(folder.path, {
    TRACKER_URL: 'http://me:dummy-key@127.0.0.1:1',
    TRACKER_TOKEN: 'a\nb',
  });
  expect({ code, err }).toEqual({
    code: 0,
    err: 'the tracker fails (TypeError): it is tried again, and the run continues\n',
  });
});
