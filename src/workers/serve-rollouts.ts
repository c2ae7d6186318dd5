import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import {
  type AgentRunner,
  type ChatModel,
  type RolloutResult,
  type SkillEnv,
  SkillError,
} from '../core/contracts/index.ts';
import { linkedSignal } from '../models/index.ts';
import { createLimit, createStageDeps, createStop, rolloutKey, runRollout, type StageDeps } from '../pipeline/index.ts';
import { agentFor } from './agent-elsewhere.ts';
import {
  differences,
  type Fingerprint,
  hashOf,
  isHere,
  leave,
  type Presence,
  present,
  queueName,
  RENEW_MS,
  whoIsHere,
} from './handshake.ts';
import { openPost, type Post } from './post.ts';
import { openServer, PREFIX, type QueueServer, soon } from './redis.ts';
import { encodeError, type Job, type Orders, type Questions, type Task, toWire } from './wire.ts';

export type ServeRolloutsOptions = {
  readonly url: string;
  readonly fingerprint: Fingerprint;
  /** Set up already. */
  readonly env: SkillEnv;
  readonly agent?: AgentRunner | undefined;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly rolloutTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** Attempts at the same time. */
  readonly concurrency: number;
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
};

export type WorkerEvent =
  | { readonly type: 'ready'; readonly queue: string }
  /** A run of the project that would score differently, and the names of what differs. */
  | { readonly type: 'mismatch'; readonly run: string; readonly differs: readonly string[] }
  | { readonly type: 'begin' | 'end'; readonly item: string; readonly inFlight: number; readonly done: number }
  | { readonly type: 'away'; readonly message: string }
  | { readonly type: 'lost'; readonly error: SkillError };

export interface RolloutWorker {
  readonly state: () => { readonly inFlight: number; readonly done: number; readonly isConnected: boolean };
  /** Takes nothing new. What is under way may finish for `drainMs`; then it is left to others. */
  close(drainMs?: number): Promise<void>;
}

/** A killed worker's attempts are back in the queue after this time and one look more. */
const LOCK_MS = 10_000;
const LOOK_MS = 5_000;

/** Makes attempts for runs of the same project, wherever they are. Models are asked by the process that trains. */
export async function serveRollouts(options: ServeRolloutsOptions): Promise<RolloutWorker> {
  const { fingerprint, concurrency, onEvent = () => undefined } = options;
  const server = await openServer(options.url);
  const active = new Map<string, AbortController>();
  const agents: AgentsWaiting = new Map();
  const heard = {
    away: (message: string) => onEvent({ type: 'away', message }),
    lost: (error: SkillError) => onEvent({ type: 'lost', error }),
  };
  const post = await openPost<Questions, Orders>(server, answersTo(active, agents), heard);
  const redis = await server.connect();
  const folder = join(tmpdir(), `skillopt-worker-${post.address}`);
  let done = 0;
  const tell = (type: 'begin' | 'end', { item }: Task) => {
    if (type === 'end') done += 1;
    onEvent({ type, item: item.id, inFlight: active.size, done });
  };
  const making: Making = { ...options, post, agents, folder, deps: commonDeps(options), skills: new Map(), tell };
  const worker = takeJobs(server, options, (job) =>
    untilGivenUp(job, active, async (signal) => {
      if (!(await isHere(redis, 'run', job.run))) return; // nobody waits for it
      await serveAttempt({ ...job, signal }, making);
    }),
  );
  const presence = () => ({ ...fingerprint, ...here, address: post.address, concurrency, inFlight: active.size, done });
  const watch = watchRuns({ redis, active, presence, onMismatch: (one) => onEvent({ type: 'mismatch', ...one }) });
  await worker.waitUntilReady();
  onEvent({ type: 'ready', queue: server.shown });
  return {
    state: () => ({ inFlight: active.size, done, isConnected: redis.status === 'ready' }),
    async close(drainMs = 0) {
      await drain(worker, active, drainMs);
      watch.close();
      await soon(leave(redis, presence()));
      post.close();
      redis.disconnect();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Active = ReadonlyMap<string, AbortController>;

const jobKey = ({ run, attempt }: Job) => `${run} ${attempt}`;

/** Does the work of a job while the job is among those that can be given up. A job that was given up ends without an error. */
async function untilGivenUp(
  job: Job,
  active: Map<string, AbortController>,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  active.set(jobKey(job), over);
  try {
    await work(over.signal);
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    active.delete(jobKey(job));
  }
}

async function drain(worker: ReturnType<typeof takeJobs>, active: Active, drainMs: number): Promise<void> {
  const closing = worker.close();
  await Promise.race([closing, after(drainMs)]);
  for (const attempt of active.values()) attempt.abort(new Error('the worker ends'));
  await soon(closing);
  await soon(worker.disconnect());
}

function takeJobs(
  { bullmq, options: connection }: QueueServer,
  { fingerprint, concurrency }: ServeRolloutsOptions,
  make: (job: Job) => Promise<void>,
) {
  const worker = new bullmq.Worker<Job>(queueName(fingerprint), (job) => make(job.data), {
    ...{ connection, prefix: PREFIX, concurrency },
    ...{ lockDuration: LOCK_MS, stalledInterval: LOOK_MS, maxStalledCount: 1_000, drainDelay: 1 },
    ...{ removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
  });
  worker.on('error', () => undefined); // the post notices a lost server
  return worker;
}

const commonDeps = ({ extras, rolloutTimeoutMs, callTimeoutMs }: ServeRolloutsOptions): StageDeps =>
  createStageDeps({ extras, rolloutTimeoutMs, callTimeoutMs, target: nobody, optimizer: nobody });

/** Each attempt has its own models. */
const nobody: ChatModel = { id: 'nobody', complete: () => Promise.reject(new Error('no attempt is under way')) };

const here = { role: 'worker', host: hostname(), pid: process.pid } as const;
const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref());

/** A run has few skills at a time. */
const MOST_SKILLS = 50;

function remember(skills: Map<string, string>, hash: string, skill: string): void {
  if (skills.size >= MOST_SKILLS) skills.delete(skills.keys().next().value!);
  skills.set(hash, skill);
}

type AgentsWaiting = Parameters<typeof agentFor>[3];

const answersTo = (active: Active, agents: AgentsWaiting) => ({
  cancel: async (job: Orders['cancel'][0]) => {
    active.get(jobKey(job))?.abort(new Error('the run gave the attempt up'));
    return null;
  },
  start: async (order: Orders['start'][0]) => {
    const waiting = agents.get(`${order.run} ${order.attempt} ${order.agentRun}`);
    if (waiting === undefined) throw new Error('the attempt is over');
    return waiting.start(order);
  },
  end: async ({ run, attempt, agentRun }: Orders['end'][0]) => {
    agents.get(`${run} ${attempt} ${agentRun}`)?.end();
    return null;
  },
});

type Made = {
  readonly run: string;
  readonly attempt: number;
  readonly task: Task;
  readonly skill: string;
  readonly signal: AbortSignal;
};
type Making = ServeRolloutsOptions & {
  /** What all attempts have in common. */
  readonly deps: StageDeps;
  readonly post: Post<Questions>;
  readonly agents: AgentsWaiting;
  readonly folder: string;
  /** Texts by their hash. */
  readonly skills: Map<string, string>;
  readonly tell: (type: 'begin' | 'end', task: Task) => void;
};

/** Asks the run for the attempt, makes it, and says what came of it. */
async function serveAttempt(asked: CallsOf, making: Making): Promise<void> {
  const { run, attempt, signal } = asked;
  const { post, skills, tell } = making;
  const known = new Map(skills); // one that it says it knows must not be forgotten meanwhile
  const task = await post.ask(run, 'begin', { attempt, worker: post.address, known: [...known.keys()] }, signal);
  if (!task) return;
  if (task.skill !== undefined) remember(skills, task.skillHash, task.skill);
  tell('begin', task);
  const made = { ...asked, task, skill: task.skill ?? known.get(task.skillHash)! };
  const outcome = await attemptTask(made, making).then(
    (result) => ({ attempt, result }),
    (error) => ({ attempt, error: encodeError(error) }),
  );
  signal.throwIfAborted();
  await post.ask(run, 'result', outcome, signal);
  tell('end', task);
}

/** The attempt as the process that trains would make it, but for its models, which that process asks. */
async function attemptTask({ task, skill, ...asked }: Made, making: Making): Promise<RolloutResult> {
  const { env, agent, post, agents, folder } = making;
  requireSameKey(task, making);
  const workFolder = join(folder, task.key);
  using stop = createStop(asked.signal, 0);
  const deps: StageDeps = {
    ...{ ...making.deps, workFolder, stop, limit: createLimit(1, stop) },
    target: modelOf('target', task.target, post, asked),
    judge: task.judge === undefined ? undefined : modelOf('judge', task.judge, post, asked),
    agent: agent && agentFor(agent, post, asked, agents),
  };
  // Draw 0: the process that trains numbers the calls of the attempt by its draw.
  const [result] = await runRollout({ env, skill, items: [task.item], sampleIndex: 0, isPart: true }, deps);
  if (existsSync(workFolder)) await rm(workFolder, { recursive: true, force: true });
  return result!;
}

/** The name of a queue covers all that scores depend on; an environment may still differ in what it found here. */
function requireSameKey({ key, item, skillHash: hash, sampleIndex, target, judge }: Task, making: Making): void {
  const { env, extras, agent } = making;
  const models = { target: { id: target }, judge: judge === undefined ? judge : { id: judge }, agent };
  if (rolloutKey({ env, item, skillHash: hash, sampleIndex }, { ...models, extras }) === key) return;
  const message = `a worker would score ${item.id} differently: its environment or task has another version there`;
  throw new SkillError('WORKER_MISMATCH', message, { hint: 'Give all machines the same copy of the project.' });
}

type CallsOf = Pick<Made, 'run' | 'attempt' | 'signal'>;

function modelOf(
  role: 'target' | 'judge',
  id: string,
  post: Post<Questions>,
  { run, attempt, signal }: CallsOf,
): ChatModel {
  const times = new Map<string, number>();
  return {
    id,
    async complete(request) {
      const sent = toWire(request);
      const hash = hashOf([role, sent]);
      const time = (times.get(hash) ?? 0) + 1;
      times.set(hash, time);
      const call = { attempt, role, id: `${hash} ${time}`, request: sent };
      const until = linkedSignal(signal, request.signal);
      try {
        return await post.ask(run, 'call', call, until.signal);
      } catch (error) {
        // A worker that ends drops nothing: the next one gets the reply, which is paid for.
        if (until.signal.aborted && !signal.aborted) post.tell(run, 'drop', call);
        throw error;
      } finally {
        until.release();
      }
    },
  };
}

type WatchedRuns = {
  readonly redis: Redis;
  readonly active: Active;
  readonly presence: () => Presence;
  readonly onMismatch: (mismatch: { readonly run: string; readonly differs: readonly string[] }) => void;
};

/** Says that the worker is here, gives up attempts of runs that are gone, and names runs that it cannot work for. */
function watchRuns({ redis, active, presence, onMismatch }: WatchedRuns) {
  const named = new Set<string>();
  const look = async () => {
    const own = presence();
    await present(redis, own);
    for (const [key, attempt] of active) {
      const isGone = !(await isHere(redis, 'run', key.split(' ')[0]!));
      if (isGone && redis.status === 'ready') attempt.abort(new Error('the run is gone'));
    }
    for (const run of await whoIsHere(redis, 'run')) {
      if (run.project !== own.project || queueName(run) === queueName(own) || named.has(run.address)) continue;
      named.add(run.address);
      onMismatch({ run: run.host, differs: differences(own, run) });
    }
  };
  const looking = () => void look().catch(() => undefined);
  looking();
  const timer = setInterval(looking, RENEW_MS).unref();
  return { close: () => clearInterval(timer) };
}
