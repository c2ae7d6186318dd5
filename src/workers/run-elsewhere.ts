import { hostname } from 'node:os';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type {
  ChatReply,
  RolloutAttempt,
  RolloutRunner,
  RunnerAnswer,
  RunnerContext,
  SkillError,
} from '../core/contracts/index.ts';
import { memoize, plural, skillHash } from '../core/text/index.ts';
import { linkedSignal, onAbort } from '../models/index.ts';
import { AgentRuns } from './agent-elsewhere.ts';
import { differences, type Fingerprint, leave, present, queueName, RENEW_MS, whoIsHere } from './handshake.ts';
import { type Answers, openPost, type Post } from './post.ts';
import { openServer, PREFIX, type QueueServer, soon } from './redis.ts';
import { type CallOf, decodeError, fromWire, type Job, type Orders, type Questions } from './wire.ts';

export type RunElsewhereOptions = {
  /** `redis://…`, or `rediss://USER:PASSWORD@…` */
  readonly url: string;
  readonly fingerprint: Fingerprint;
  readonly onWarning?: ((message: string) => void) | undefined;
};

/**
 * A runner that hands attempts to workers through a queue. Workers compute; this process asks the models, so that each call is
 * limited, paced, cached and counted as if it was made here, and a reply that is paid for outlives the worker that asked for it.
 */
export async function runElsewhere({
  url,
  fingerprint,
  onWarning,
}: RunElsewhereOptions): Promise<RolloutRunner & { close(): Promise<void> }> {
  const server = await openServer(url);
  const open = new Map<number, OpenAttempt>();
  const heard = {
    away: (message: string) => onWarning?.(message),
    lost: (error: SkillError) => {
      for (const attempt of open.values()) attempt.fail(error);
    },
  };
  const post = await openPost<Orders, Questions>(server, answersFrom(open), heard);
  const redis = await server.connect();
  const queue = openQueue(server, queueName(fingerprint));
  const watch = watchWorkers({ redis, queue, post, open, fingerprint, onWarning });
  let last = 0;
  let isClosed = false;
  return {
    most: { calls: 0, totalTokens: 0, costUsd: 0 }, // workers pay for nothing by themselves
    run(attempt, context) {
      const making = new OpenAttempt(attempt, context, post);
      return handOut(++last, making, { open, queue, address: post.address, signal: context.signal });
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      watch.close();
      await soon(leave(redis, { role: 'run', address: post.address }).then(() => queue.close()));
      await soon(queue.disconnect());
      post.close();
      redis.disconnect();
    },
  };
}

function openQueue({ bullmq, options: connection }: QueueServer, name: string): Queue<Job> {
  const queue = new bullmq.Queue<Job>(name, {
    ...{ connection, prefix: PREFIX, streams: { events: { maxLen: 100 } } },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
  });
  queue.on('error', () => undefined); // the post notices a lost server
  return queue;
}

function answersFrom(open: ReadonlyMap<number, OpenAttempt>): Answers<Questions> {
  const attemptOf = ({ attempt }: { readonly attempt: number }) => {
    const found = open.get(attempt);
    if (found === undefined) throw new Error('the attempt is over');
    return found;
  };
  return {
    begin: async (body) => open.get(body.attempt)?.begin(body),
    call: (body) => attemptOf(body).call(body),
    drop: async (body) => attemptOf(body).drop(body),
    result: async (body) => open.get(body.attempt)?.end(body) ?? null,
    agent: (body) => attemptOf(body).agent().agent(body),
    spend: (body) => attemptOf(body).agent().spend(body),
    slot: (body) => attemptOf(body).agent().slot(body),
    slotEnd: (body) => attemptOf(body).agent().slotEnd(body),
  };
}

const jobIdOf = (address: string, attempt: number) => `${address}-${attempt}`;

type Published = {
  readonly open: Map<number, OpenAttempt>;
  readonly queue: Queue<Job>;
  /** Of the run. */
  readonly address: string;
  readonly signal: AbortSignal;
};

/** Publishes an attempt, and waits for the answer of the worker that takes it. */
async function handOut(id: number, making: OpenAttempt, published: Published): Promise<RunnerAnswer> {
  const { open, queue, address, signal } = published;
  const jobId = jobIdOf(address, id);
  open.set(id, making);
  const stopListening = onAbort(signal, (reason) => making.fail(reason));
  try {
    queue.add('rollout', { run: address, attempt: id }, { jobId }).catch(making.fail); // not awaited: the server may be away
    return await making.answer;
  } finally {
    stopListening();
    open.delete(id);
    making.close(id);
    if (signal.aborted) queue.remove(jobId).catch(() => undefined);
  }
}

/** The same few skills are attempted again and again. */
const hashOfSkill = memoize(skillHash, { maxEntries: 10 });

/** An attempt that a worker makes or will make. If that worker is gone, another makes it from the beginning. */
class OpenAttempt {
  readonly answer: Promise<RunnerAnswer>;
  readonly #attempt: RolloutAttempt;
  readonly #context: RunnerContext;
  readonly #post: Post<Orders>;
  /** By the id of a call: the same call of another worker gets the same reply. */
  readonly #calls = new Map<string, { readonly reply: Promise<ChatReply>; abort(reason: unknown): void }>();
  #agentRuns: AgentRuns | undefined;
  #worker: string | undefined;
  #resolve!: (answer: RunnerAnswer) => void;
  fail!: (error: unknown) => void;

  constructor(attempt: RolloutAttempt, context: RunnerContext, post: Post<Orders>) {
    this.#attempt = attempt;
    this.#context = context;
    this.#post = post;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.fail = reject;
    });
    this.answer.catch(() => undefined); // it may fail while the attempt is being published
  }

  get worker(): string | undefined {
    return this.#worker;
  }

  /** Its time begins when a worker takes it, however long the line is. An attempt whose worker is gone is in the line again. */
  waitInLine(isHere: (worker: string) => boolean): void {
    if (this.#worker !== undefined && !isHere(this.#worker)) this.#worker = undefined;
    if (this.#worker === undefined) this.#context.begin();
  }

  begin({ worker, known }: Questions['begin'][0]): Questions['begin'][1] {
    const { key, item, skill, sampleIndex } = this.#attempt;
    const { target, judge, agent, begin } = this.#context;
    this.#agentRuns?.end();
    this.#agentRuns = agent && new AgentRuns(this.#context, this.#post, { run: this.#post.address, worker });
    this.#worker = worker;
    begin();
    const hash = hashOfSkill(skill);
    const text = known.includes(hash) ? {} : { skill };
    return { key, item, sampleIndex, skillHash: hash, ...text, target: target.id, ...(judge && { judge: judge.id }) };
  }

  call({ role, id, request }: CallOf): Promise<ChatReply> {
    const known = this.#calls.get(id);
    if (known) return known.reply;
    const { signal, abort, release } = linkedSignal(this.#context.signal);
    const reply = this.#context[role]!.complete({ ...fromWire(request), signal });
    reply.then(release, release); // the worker that asked may be gone
    this.#calls.set(id, { reply, abort });
    return reply;
  }

  drop({ id }: Pick<CallOf, 'id'>): null {
    this.#calls.get(id)?.abort(new Error('the environment gave the call up'));
    this.#calls.delete(id);
    return null;
  }

  agent(): AgentRuns {
    if (this.#agentRuns === undefined) throw new Error('the run has no agent');
    return this.#agentRuns;
  }

  /** The first result counts. */
  end({ result, error }: Questions['result'][0]): null {
    if (error) this.fail(decodeError(error));
    else this.#resolve({ result: result!, bills: [] });
    return null;
  }

  close(id: number): void {
    this.#agentRuns?.end();
    if (this.#context.signal.aborted && this.#worker !== undefined)
      this.#post.tell(this.#worker, 'cancel', { run: this.#post.address, attempt: id });
  }
}

type Watched = Pick<RunElsewhereOptions, 'fingerprint' | 'onWarning'> & {
  readonly redis: Redis;
  readonly queue: Queue<Job>;
  readonly post: Post<Orders>;
  readonly open: ReadonlyMap<number, OpenAttempt>;
};

/** Says now and then that this run is here, publishes jobs that the server has lost, and warns when nobody takes them. */
function watchWorkers({ redis, queue, post, open, fingerprint, onWarning }: Watched) {
  const { address } = post;
  let [waitedMs, wasTaken, isWarned] = [0, false, false];
  const look = async () => {
    await present(redis, { ...fingerprint, role: 'run', address, host: hostname(), pid: process.pid });
    for (const id of open.keys()) {
      const jobId = jobIdOf(address, id);
      const state = await queue.getJobState(jobId);
      if (state === 'unknown' && open.has(id)) await queue.add('rollout', { run: address, attempt: id }, { jobId });
    }
    const here = new Set((await whoIsHere(redis, 'worker')).map((worker) => worker.address));
    for (const attempt of open.values()) attempt.waitInLine((worker) => here.has(worker));
    const isTaken = [...open.values()].some(({ worker }) => worker !== undefined);
    wasTaken ||= isTaken;
    if (isTaken) isWarned = false;
    waitedMs = open.size === 0 || isTaken ? 0 : waitedMs + RENEW_MS;
    if (waitedMs < NOBODY_MS || isWarned) return;
    isWarned = true;
    onWarning?.(await nobody(redis, fingerprint, wasTaken));
  };
  const looking = () => void look().catch(() => undefined); // a lost server is noticed by the post
  looking();
  const timer = setInterval(looking, RENEW_MS).unref();
  return { close: () => clearInterval(timer) };
}

const NOBODY_MS = 10_000;

async function nobody(redis: Redis, fingerprint: Fingerprint, wasTaken: boolean): Promise<string> {
  const workers = (await whoIsHere(redis, 'worker')).filter(({ project }) => project === fingerprint.project);
  const others = workers.filter((worker) => queueName(worker) !== queueName(fingerprint));
  const [first] = others;
  if (first === undefined)
    return `no worker takes attempts ${wasTaken ? 'any more' : 'yet'}, and the run waits: start one in a copy of this project with skillopt worker`;
  const names = differences(fingerprint, first).join(', ');
  return `no worker takes attempts: ${plural(others.length, 'worker')} of this project would score differently (${names})`;
}
