import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { createAdaptorServer } from '@hono/node-server';
import { SkillError } from '../core/contracts/index.ts';
import { type AppOptions, openApp } from './app.ts';

export type ServeOptions = Omit<AppOptions, 'hosts' | 'token'> & {
  /** 0, the default, takes any free one. */
  readonly port?: number | undefined;
  /** 127.0.0.1 by default: nobody but the people of this machine can reach it. */
  readonly host?: string | undefined;
  /** Random by default. */
  readonly token?: string | undefined;
};

/** A running server. `await using` closes it. */
export interface RunServer extends AsyncDisposable {
  /** With the token: who opens it sees everything. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the pages of a folder of runs. Only reads, but for `control`. */
export async function serveRuns({ port = 0, host = '127.0.0.1', token, ...options }: ServeOptions): Promise<RunServer> {
  const secret = token ?? randomBytes(24).toString('base64url');
  let served: ReturnType<typeof openApp> | undefined;
  // The names that browsers may use have the port in them, which is known only now.
  const server = createAdaptorServer({ fetch: (request, env) => served!.app.fetch(request, env) }) as Server;
  await listen(server, port, host);
  const bound = (server.address() as AddressInfo).port;
  served = openApp({ ...options, token: secret, hosts: namesOf(host).map((name) => `${name}:${bound}`) });
  const close = () =>
    new Promise<void>((resolve) => {
      served?.close();
      server.close(() => resolve()); // closed already is closed too
      server.closeAllConnections();
    });
  const shown = isIP(host) === 6 ? `[${host}]` : host;
  return {
    url: `http://${isEverywhere(host) ? 'localhost' : shown}:${bound}/open?token=${secret}`,
    port: bound,
    close,
    [Symbol.asyncDispose]: close,
  };
}

const isEverywhere = (host: string) => host === '0.0.0.0' || host === '::';

/** All names that lead to this server. */
function namesOf(host: string): string[] {
  const own = isIP(host) === 6 ? `[${host}]` : host.toLowerCase();
  const local = ['localhost', '127.0.0.1', '[::1]'];
  if (local.includes(own)) return local;
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const others = addresses.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));
  return isEverywhere(host) ? [...local, hostname().toLowerCase(), ...others] : [own];
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === 'EADDRINUSE';
      const message = isTaken ? `port ${port} is taken` : `cannot listen on ${host}, port ${port}: ${cause.message}`;
      reject(new SkillError('USAGE', message, { cause, hint: 'Choose another port, or 0 for any free one.' }));
    });
    server.listen(port, host, () => resolve());
  });
}
