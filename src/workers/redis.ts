import type * as BullMQ from 'bullmq';
import type { Redis } from 'ioredis';
import { SkillError } from '../core/contracts/index.ts';

/** Every key of ours begins with it, so that an account may be given these keys alone: `~skillopt:*`. */
export const PREFIX = 'skillopt';
export const keyOf = (...parts: readonly string[]) => [PREFIX, ...parts].join(':');

/** How long an attempt to connect may take, and how long a lost server is waited for. */
const CONNECT_MS = 10_000;
const LOST_MS = 60_000;

type ServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly db: number;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: Record<string, never>;
  readonly maxRetriesPerRequest: null;
  readonly retryStrategy: (times: number) => number;
};

/** A server by its address. Nothing is connected before `connect`. */
export type QueueServer = {
  /** Without a password: for messages. */
  readonly shown: string;
  readonly bullmq: typeof BullMQ;
  readonly options: ServerOptions;
  /** A connection of its own. It waits for a server that is away, and `onLost` hears when that takes too long. */
  connect(onLost?: (error: SkillError) => void): Promise<Redis>;
};

/** Loads the two packages, which are installed only where they are needed. */
export async function openServer(url: string, connectMs = CONNECT_MS): Promise<QueueServer> {
  const address = parseAddress(url);
  const [bullmq, ioredis] = await Promise.all([import('bullmq'), import('ioredis')]).catch(notInstalled);
  const options = optionsOf(address);
  const shown = `${address.protocol}//${address.host}`;
  return {
    ...{ shown, bullmq, options },
    async connect(onLost) {
      const redis = new ioredis.Redis({ ...options, lazyConnect: true });
      let last: Error | undefined;
      redis.on('error', (error) => {
        last = error; // without a listener it would end the process
      });
      await withinTime(redis, connectMs, () => last, shown);
      if (onLost) noticeLoss(redis, () => onLost(unreachable(shown, last, `was away for ${LOST_MS / 1000} s`)));
      return redis;
    },
  };
}

function parseAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && ['redis:', 'rediss:'].includes(url.protocol) && url.hostname !== '') return url;
  const shown = url ? `${url.protocol}//…` : 'something else';
  throw new SkillError('USAGE', `expected the address of a queue, such as redis://127.0.0.1:6379, got ${shown}`, {
    hint: 'With TLS and an account: rediss://USER:PASSWORD@HOST:6379. A number at the end is a database: redis://HOST:6379/1.',
  });
}

function optionsOf(url: URL): ServerOptions {
  const { hostname, port, username, password, pathname, protocol } = url;
  const db = Number(pathname.slice(1) || '0');
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
    db: Number.isInteger(db) ? db : 0,
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
    maxRetriesPerRequest: null, // commands wait for a server that is away
    retryStrategy: (times) => Math.min(times * 100, 1_000),
  };
}

async function withinTime(redis: Redis, ms: number, last: () => Error | undefined, shown: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(last() ?? new Error(`no answer within ${ms / 1000} s`)), ms);
      redis.once('ready', resolve);
      redis.on('error', (error) => (isRefused(error) ? reject(error) : undefined));
      redis.connect().catch(() => undefined); // `error` says why
    });
    await redis.exists(keyOf('here')); // an account may have no rights to our keys
  } catch (error) {
    redis.disconnect();
    const { message } = error as Error;
    throw message.startsWith('NOPERM')
      ? tooFewRights(shown, message)
      : unreachable(shown, error as Error, 'did not answer');
  } finally {
    clearTimeout(timer);
  }
}

/** Trying again does not help. */
const isRefused = ({ message }: Error) => /WRONGPASS|NOAUTH|NOPERM|certificate|self.signed|ENOTFOUND/i.test(message);

function noticeLoss(redis: Redis, tell: () => void): void {
  let timer: NodeJS.Timeout | undefined;
  redis.on('close', () => {
    timer ??= setTimeout(tell, LOST_MS).unref();
  });
  redis.on('ready', () => {
    clearTimeout(timer);
    timer = undefined;
  });
  redis.on('end', () => clearTimeout(timer));
}

function unreachable(shown: string, cause: Error | undefined, what: string): SkillError {
  const words = cause?.message || (cause as NodeJS.ErrnoException | undefined)?.code;
  const hint = 'Start the server, or check its address, account and certificate: skillopt doctor names what is wrong.';
  const message = `the queue at ${shown} ${what}${words ? `: ${words}` : ''}`;
  return new SkillError('QUEUE_UNREACHABLE', message, { ...(cause && { cause }), hint });
}

/** For an account that may not do what is needed: `refused` says what. */
export function tooFewRights(shown: string, refused: string): SkillError {
  const message = `${shown}: its account may not do what runs and workers do: ${refused}`;
  const rights = '~skillopt:* -@all +@read +@write +@connection +@scripting +@transaction -@dangerous +info';
  return new SkillError('QUEUE_UNREACHABLE', message, { hint: `Give it its rights: ACL SETUSER NAME ${rights}` });
}

function notInstalled(cause: unknown): never {
  const hint = 'Install them beside skillopt: npm install bullmq ioredis';
  throw new SkillError('USAGE', 'a queue needs the packages bullmq and ioredis, and they are not installed', {
    ...{ cause, hint },
  });
}

/** Waits for the end of work, and not for long: a server that is away would keep it waiting. */
export const soon = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, new Promise((resolve) => setTimeout(resolve, 2_000).unref())]).catch(() => undefined);
