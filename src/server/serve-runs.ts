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
  /** The same for each address by which this server can be reached, the first one included. */
  readonly urls: readonly string[];
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
  const urls = addressesOf(host).map((name) => `http://${name}:${bound}/open?token=${secret}`);
  return {
    url: urls[0]!,
    urls,
    port: bound,
    close,
    [Symbol.asyncDispose]: close,
  };
}

const isEverywhere = (host: string) => host === '0.0.0.0' || host === '::';

const inAddress = (host: string) => (isIP(host) === 6 ? `[${host}]` : host);

/** Where browsers find this server: here, and where it listens everywhere also from elsewhere. */
function addressesOf(host: string): string[] {
  if (!isEverywhere(host)) return [inAddress(host)];
  const reached = ownAddresses().filter(({ internal, family, scopeid }) => {
    if (internal || (family === 'IPv6' && host === '0.0.0.0')) return false;
    return !scopeid; // an address of one cable alone, which no browser opens without the name of that cable
  });
  return ['localhost', ...reached.map(({ address }) => inAddress(address))];
}

const ownAddresses = () => Object.values(networkInterfaces()).flatMap((list) => list ?? []);

/** All names that lead to this server. */
function namesOf(host: string): string[] {
  const own = inAddress(host.toLowerCase());
  const local = ['localhost', '127.0.0.1', '[::1]'];
  if (local.includes(own)) return local;
  const others = ownAddresses().map(({ address }) => inAddress(address));
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
