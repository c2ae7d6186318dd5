import type * as BullMQ from 'bullmq';
import type { Redis } from 'ioredis';
import { SkillError } from '../core/contracts/index.ts';

/** Every key of ours begins with it, so that an account may be given these keys alone: `~skillopt:*`. */
export const PREFIX = 'skillopt';
export const keyOf = (...parts: readonly string[]) => [PREFIX, ...parts].join(':');

/** How long an attempt to connect may take, and how long a lost server is waited for. */
const CONNECT_MS = 10_000;
const AWAY_MS = 3_000;
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
  /** A connection of its own. It waits for a server that is away, and notifies `heard`. */
  connect(heard?: AwayServer): Promise<Redis>;
};

export type AwayServer = {
  /** It has been away for some seconds, and is waited for. */
  away(message: string): void;
  /** That takes too long. */
  lost(error: SkillError): void;
};

/** Loads the two packages, which are installed only where they are needed. */
export async function openServer(url: string, connectMs = CONNECT_MS): Promise<QueueServer> {
  const address = parseAddress(url);
  const [bullmq, ioredis] = await Promise.all([import('bullmq'), import('ioredis')]).catch(notInstalled);
  const options = optionsOf(address);
  const shown = `${address.protocol}//${address.host}`;
  return {
    ...{ shown, bullmq, options },
    async connect(heard) {
      const redis = new ioredis.Redis({ ...options, lazyConnect: true });
      let last: Error | undefined;
      redis.on('error', (error) => {
        last = error; // without a listener it would end the process
      });
      await withinTime(redis, connectMs, () => last, shown);
      if (heard) noticeLoss(redis, heard, { shown, why: () => last });
      return redis;
    },
  };
}

function parseAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isQueue = url && ['redis:', 'rediss:'].includes(url.protocol) && url.hostname !== '';
  if (isQueue && /^\/?\d*$/.test(url.pathname)) return url;
  const shown = isQueue ? `the database ${JSON.stringify(url.pathname.slice(1))}` : shownAddress(text, url);
  throw new SkillError('USAGE', `expected the address of a queue, such as redis://127.0.0.1:6379, got ${shown}`, {
    hint: 'With TLS and an account: rediss://USER:PASSWORD@HOST:6379. A number at the end is a database: redis://HOST:6379/1.',
  });
}

/** Without what may be a password. */
function shownAddress(text: string, url: URL | undefined): string {
  if (text === '') return 'nothing';
  return url && /^\w+:\/\//.test(text) ? `${url.protocol}//…` : 'an address without redis://';
}

function optionsOf(url: URL): ServerOptions {
  const { hostname, port, username, password, pathname, protocol } = url;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
    db: Number(pathname.slice(1) || '0'),
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
    const refusal = last(); // a database that is not there is refused after the server was ready
    if (refusal && isRefused(refusal)) throw refusal;
  } catch (error) {
    redis.disconnect();
    const { message } = error as Error;
    throw message.startsWith('NOPERM')
      ? tooFewRights(shown, message)
      : unreachable(shown, error as Error, isRefused(error as Error) ? 'cannot be used' : 'did not answer');
  } finally {
    clearTimeout(timer);
  }
}

/** Trying again does not help. */
const isRefused = ({ message }: Error) =>
  /WRONGPASS|NOAUTH|NOPERM|DB index|RESP|certificate|self.signed|ENOTFOUND/i.test(message);

function noticeLoss(
  redis: Redis,
  heard: AwayServer,
  { shown, why }: { shown: string; why(): Error | undefined },
): void {
  let timers: NodeJS.Timeout[] = [];
  const stop = () => {
    for (const timer of timers.splice(0)) clearTimeout(timer);
  };
  redis.on('close', () => {
    if (timers.length > 0) return;
    const away = () => heard.away(`the queue at ${shown} is away; it is waited for, up to ${LOST_MS / 1000} s`);
    const lost = () => heard.lost(unreachable(shown, why(), `was away for ${LOST_MS / 1000} s`));
    timers = [setTimeout(away, AWAY_MS).unref(), setTimeout(lost, LOST_MS).unref()];
  });
  redis.on('ready', stop);
  redis.on('end', stop);
}

function unreachable(shown: string, cause: Error | undefined, what: string): SkillError {
  const words = (cause?.message || (cause as NodeJS.ErrnoException | undefined)?.code)?.replace(
    / Please report this\.?$/,
    '',
  );
  const message = `the queue at ${shown} ${what}${words ? `: ${words}` : ''}`;
  return new SkillError('QUEUE_UNREACHABLE', message, { ...(cause && { cause }), hint: hintFor(words ?? '', shown) });
}

function hintFor(words: string, shown: string): string {
  if (/WRONGPASS|NOAUTH/.test(words)) return 'Check the account and its password: redis://USER:PASSWORD@HOST:6379.';
  if (words.includes('DB index'))
    return 'The server has no database of that number: leave it out, or name a smaller one.';
  if (words.includes('RESP')) return 'Another program answers there: check the port.';
  if (/certificate|self.signed/i.test(words))
    return 'Name the file of your own certificate authority in NODE_EXTRA_CA_CERTS.';
  if (shown.startsWith('rediss:')) return 'Start the server, or check its address. rediss:// needs a server with TLS.';
  return 'Start the server, or check its address.';
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
