import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { SkillError } from '../core/contracts/index.ts';
import { differences, type Fingerprint, type Presence, whoIsHere } from './handshake.ts';
import { keyOf, openServer, tooFewRights } from './redis.ts';

/** A person waits for the answer. */
const CONNECT_MS = 3_000;

/** What a server of a queue is like, as far as a run depends on it. */
export type QueueFacts = {
  /** Without a password: for messages. */
  readonly shown: string;
  readonly answerMs: number;
  /** Such as `Redis 7.0.15`. */
  readonly product: string;
  readonly isTooOld: boolean;
  /** Others on the network can read along. */
  readonly isOpenToReaders: boolean;
  /** What the server forgets when its memory is full: `noeviction` is nothing. */
  readonly evictionPolicy: string;
  /** Whether it writes down each change, so that a restart loses nothing. */
  readonly keepsLog: boolean;
};

/** A worker of the project, and the names of what it has differently. */
export type WorkerFacts = Pick<Presence, 'host' | 'pid' | 'concurrency' | 'inFlight' | 'done'> & {
  readonly differs: readonly string[];
};

export type ExaminedQueue = {
  readonly facts: QueueFacts;
  workersFor(fingerprint: Fingerprint): Promise<WorkerFacts[]>;
  close(): void;
};

/** Looks at the server of a queue. It writes one key of its own and removes it. */
export async function examineQueue(url: string): Promise<ExaminedQueue> {
  const server = await openServer(url, CONNECT_MS);
  const startedAt = performance.now();
  const redis = await server.connect();
  try {
    const answerMs = performance.now() - startedAt;
    const { host, tls } = server.options;
    const isOpenToReaders = tls === undefined && !isLoopback(host);
    const facts = { shown: server.shown, answerMs, isOpenToReaders, ...(await readInfo(redis)) };
    const refused = await tryRights(redis);
    if (refused !== undefined) throw tooFewRights(server.shown, refused);
    return {
      facts,
      async workersFor(own) {
        const workers = (await whoIsHere(redis, 'worker')).filter(({ project }) => project === own.project);
        return workers.map((worker) => ({ ...worker, differs: differences(own, worker) }));
      },
      close: () => redis.disconnect(),
    };
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.');

/** `LPOP` of several letters came with Redis 6.2. Valkey began later. */
const OLDEST = [6, 2] as const;

async function readInfo(redis: Redis) {
  const text = await redis.info().catch((error: Error) => {
    const hint = 'Give the account the command INFO: ACL SETUSER NAME +info';
    throw new SkillError('QUEUE_UNREACHABLE', `the account may not ask the server what it is: ${error.message}`, {
      hint,
    });
  });
  const info = new Map(text.split('\r\n').map((line) => line.split(/:(.*)/) as [string, string]));
  const valkey = info.get('valkey_version');
  const version = info.get('redis_version') ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return {
    product: valkey ? `Valkey ${valkey}` : `Redis ${version}`,
    isTooOld: major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]),
    evictionPolicy: info.get('maxmemory_policy') ?? 'unknown',
    keepsLog: info.get('aof_enabled') === '1',
  };
}

/** What runs, workers and BullMQ do, once each: lists, hashes, sorted sets and streams, also from a script. */
const TRIAL = `for i, c in ipairs({{'rpush', 'x'}, {'hset', 'x', 'y'}, {'zadd', 1, 'x'}, {'xadd', '*', 'x', 'y'}}) do
  local command = table.remove(c, 1)
  redis.call(command, KEYS[1], unpack(c))
  redis.call('del', KEYS[1])
end`;

async function tryRights(redis: Redis): Promise<string | undefined> {
  const key = keyOf('doctor', randomUUID());
  try {
    await redis.eval(TRIAL, 1, key);
    await redis.set(key, '1', 'EX', 10);
    await redis.scan('0', 'MATCH', key);
    await redis.mget(key);
    await redis.del(key);
    await redis.blpop(key, 0.01);
    await redis.bzpopmin(key, 0.01);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
