// Logs a run to an experiment tracker while it trains: its settings, the figures of each step, its verdict. Here by the
// REST API of MLflow: TRACKER_URL=http://127.0.0.1:5000, and TRACKER_TOKEN where one is needed. For another tracker
// write `send` again: nothing else knows the API. A tracker that is down or slow neither stops nor slows the run: it is asked
// again at the next event after a pause, and at the end. After Ctrl-C it shows the run as KILLED, after `kill -9` still as RUNNING.
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { emptyRun, type RunEvent, type RunState, reduce, runDirectory, SimpleQAEnv, SkillOptTrainer } from 'skillopt';
import { isAccepted, verdictOf } from 'skillopt/run';
import { createWorld, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';

const LIMIT_MS = 5000; // for an answer, and for all that is left at the end
const LIMIT_BYTES = 1e6; // for an answer
const PAUSE_MS = 10_000; // after a failure

/** A run so far: a row of figures after the baseline and after each step, and one at its end. */
type Report = { name: string; state: RunState; rows: Row[]; status: string };
type Row = { timestamp: number; figures: Record<string, number> };
/** What the tracker has of it. */
type Known = { id: string; rows: number; status: string };
type Data = { params?: object[]; metrics?: { step?: number }[] };
type Tracked = { info: { run_id: string; status: string }; data?: Data };
type Post = (path: string, body: object) => Promise<{ run?: Tracked; runs?: Tracked[] }>;

/** Tokens, dollars and attempts are those of the run so far. */
function rowOf(event: RunEvent, state: RunState): Row | undefined {
  if (event.type !== 'baseline-end' && event.type !== 'step-end' && event.type !== 'run-end') return undefined;
  const stages = Object.values(state.usage);
  const tokens = stages.reduce((sum, { input, output }) => sum + input + output, 0);
  const cost_usd = stages.reduce((sum, { costUsd }) => sum + costUsd, 0);
  const all = { score: state.best.score, rollouts: state.rollouts, tokens, cost_usd };
  const { value, interval } = (event.type === 'run-end' && verdictOf(state).comparison?.gain) || {};
  const gain = interval ? { gain: value!, gain_low: interval.low, gain_high: interval.high } : {};
  const { action, candidateGateScore } = (event.type === 'step-end' && state.history.at(-1)) || {};
  const step = action ? { accepted: Number(isAccepted(action)), candidate_score: candidateGateScore ?? 0 } : {};
  return { timestamp: Date.parse(event.at), figures: { ...all, ...step, ...gain } };
}

/** Sends the next thing that the tracker lacks. Answers with what it has then: the same `known` if it lacks nothing. */
async function send(known: Known | undefined, { name, state, rows, status }: Report, post: Post): Promise<Known> {
  const api = '/api/2.0/mlflow/runs';
  if (!known) {
    const run = `${state.startedAt} seed ${state.config?.seed}`; // by this tag a resumed run finds what it has sent
    const filter = `tags."skillopt.run" = '${run}'`;
    const { runs = [] } = await post(`${api}/search`, { experiment_ids: ['0'], filter, max_results: 1 });
    const tags = [{ key: 'skillopt.run', value: run }];
    const create = { experiment_id: '0', run_name: name, start_time: Date.parse(state.startedAt), tags };
    const { info, data = {} } = runs[0] ?? (await post(`${api}/create`, create)).run!;
    const settings = Object.entries({ ...state.about, ...state.config, outRoot: undefined });
    const plain = settings.filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
    const params = plain.slice(0, 100).map(([key, value]) => ({ key, value: String(value).slice(0, 250) }));
    if (!data.params?.length) await post(`${api}/log-batch`, { run_id: info.run_id, params }); // they cannot be changed
    const places = (data.metrics ?? []).map(({ step }) => Number(step ?? 0));
    return { id: info.run_id, rows: Math.max(-1, ...places) + 1, status: info.status };
  }
  if (known.rows < rows.length) {
    const some = rows.slice(known.rows, known.rows + 100); // up to 1000 metrics at once
    const metrics = some.flatMap(({ timestamp, figures }, at) =>
      Object.entries(figures).map(([key, value]) => ({ key, value, timestamp, step: known.rows + at })),
    );
    await post(`${api}/log-batch`, { run_id: known.id, metrics });
    return { ...known, rows: known.rows + some.length };
  }
  if (status === known.status) return known;
  const isOver = status !== 'RUNNING';
  const verdict = { run_id: known.id, key: 'skillopt.verdict', value: verdictOf(state).kind };
  if (isOver) await post(`${api}/set-tag`, verdict);
  await post(`${api}/update`, { run_id: known.id, status, ...(isOver && { end_time: Date.now() }) });
  return { ...known, status };
}

/** At most the first megabyte: an answer may be endless. */
async function readJson({ body }: Response) {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    parts.push(part);
    size += part.length;
    if (size > LIMIT_BYTES) throw Object.assign(new Error(), { name: 'TOO_LONG' });
  }
  return JSON.parse(Buffer.concat(parts).toString());
}

/** One request at a time. What waits is one row a step, and a resumed run reads from its journal what was never taken. */
function trackRun(name: string, url: string, token?: string) {
  const report: Report = { name, state: emptyRun, rows: [], status: 'RUNNING' };
  let [known, sending, hasWarned]: [Known?, Promise<void>?, boolean?] = [];
  let [isOurs, nextAt] = [false, 0];
  const late = new AbortController();
  const post: Post = async (path, body) => {
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
    const signal = AbortSignal.any([late.signal, AbortSignal.timeout(LIMIT_MS)]);
    const redirect = 'manual'; // neither settings nor token are for another address
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body), signal, redirect });
    if (response.ok) return (await readJson(response)) as Awaited<ReturnType<Post>>;
    await response.body?.cancel();
    throw Object.assign(new Error(), { name: `HTTP ${response.status}` });
  };
  const sendAll = async () => {
    try {
      for (let before: Known | null | undefined = null; known !== before; )
        [before, known] = [known, await send(known, report, post)];
    } catch (error) {
      const { name: kind, cause } = error as Error & { cause?: { code?: string } }; // a message may hold the token
      if (!hasWarned)
        console.warn(`the tracker fails (${cause?.code ?? kind}): it is tried again, and the run continues`);
      [hasWarned, nextAt] = [true, Date.now() + PAUSE_MS];
    }
  };
  /** What an earlier process has done. */
  const onPast = (event: RunEvent, state: RunState) => {
    const row = rowOf(event, state);
    if (row) report.rows.push(row);
    Object.assign(report, { state, status: state.isDone ? 'FINISHED' : 'RUNNING' });
  };
  const onEvent = (event: RunEvent, state: RunState) => {
    onPast(event, state);
    isOurs = true;
    if (Date.now() >= nextAt) sending ??= sendAll().then(() => (sending = undefined));
  };
  const close = async (status: 'FAILED' | 'KILLED') => {
    if (!isOurs && !report.state.isDone) return; // it was never begun, or is at work in another process
    if (!report.state.isDone) report.status = status;
    setTimeout(() => late.abort(), LIMIT_MS).unref();
    await sending;
    await sendAll();
  };
  return { onPast, onEvent, close };
}

const outRoot = process.argv[2] ?? 'runs/tracked';
const { TRACKER_URL: url, TRACKER_TOKEN: token } = process.env;
const tracker = url ? trackRun(basename(outRoot), url.replace(/\/$/, ''), token) : undefined;
let past = emptyRun;
for (const event of await runDirectory(outRoot).read()) {
  past = reduce(past, event);
  tracker?.onPast(event, past);
}
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort()); // a second Ctrl-C does not wait for calls in flight
const { items, initialSkill } = createWorld({ train: 24, val: 20, test: 20 });
const trainer = new SkillOptTrainer({
  config: { numEpochs: 2, batchSize: 8, outRoot },
  env: new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: items.test, initialSkill }),
  target: simulatedTarget(),
  optimizer: simulatedOptimizer(),
  observers: tracker ? [tracker] : [],
  signal: interrupt.signal,
});
const summary = await trainer.train().finally(() => tracker?.close(interrupt.signal.aborted ? 'KILLED' : 'FAILED'));

console.log(`test ${summary.baselineTestHard} → ${summary.testHard}`);
assert(summary.testHard! > summary.baselineTestHard!, 'the trained skill must do better on tasks it has never seen');
