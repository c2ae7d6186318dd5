import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { isMissing } from './machine.ts';

/** Whether tests that need a server must be skipped. Where nothing may be missing, it throws and says what to install. */
export const lacksRedis = () => isMissing('redis-server');

export interface TestRedis extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** A connection of the test's own, which the end of the server closes. */
  connect(): Redis;
  /** Ends the server as `kill -9` does. What it has written stays. */
  kill(): Promise<void>;
  /** The same server on the same port again, with its data or without. */
  start(options?: { readonly isEmpty?: boolean }): Promise<void>;
}

/** A server on a free port of loopback, with a log of its writes in a folder of its own. `await using` ends it. */
export async function startRedis(args: readonly string[] = []): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'skillopt-redis-'));
  const port = await freePort();
  const clients: Redis[] = [];
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const start: TestRedis['start'] = async ({ isEmpty = false } = {}) => {
    if (isEmpty) rmSync(join(folder, 'appendonlydir'), { recursive: true, force: true });
    const own = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes', '--dir', folder];
    child = spawn('redis-server', [...own, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let log = '';
    for await (const chunk of child.stdout!.setEncoding('utf8')) {
      log += chunk;
      if (log.includes('Ready to accept connections')) break;
    }
    if (!log.includes('Ready to accept connections')) throw new Error(`redis-server did not start: ${log}`);
  };
  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    connect() {
      const client = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null });
      client.on('error', () => undefined);
      clients.push(client);
      return client;
    },
    kill,
    start,
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.disconnect();
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
