import { rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { AgentRunner, ChatModel, SkillEnv, SkillError } from '../core/contracts/index.ts';
import { createStageDeps, type StageDeps } from '../pipeline/index.ts';
import {
  differences,
  type Fingerprint,
  isHere,
  leave,
  type Presence,
  present,
  queueName,
  RENEW_MS,
  whoIsHere,
} from './handshake.ts';
import { openPost } from './post.ts';
import { openServer, PREFIX, type QueueServer, soon } from './redis.ts';
import { type AgentsWaiting, type Making, serveAttempt } from './serve-attempt.ts';
import type { Job, Orders, Questions, Task } from './wire.ts';

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
