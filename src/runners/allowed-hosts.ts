import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Sandbox, SandboxRequest } from '../core/contracts/index.ts';
import { forwarderPath, throughForwarder } from '../models/index.ts';
import { openRolloutFolder } from '../workspaces/index.ts';

const INSIDE = { sockets: '/run/skillopt', node: '/run/skillopt-node', port: 8128 };

/**
 * A sandbox without network whose commands reach these hosts and no other, through a proxy that the variables of most programs
 * name. `none` has your network anyway.
 */
export function reaching(hosts: readonly string[], sandbox: Sandbox): Sandbox {
  if (hosts.length === 0 || !sandbox.hasOwnNames) return sandbox;
  return {
    ...sandbox,
    id: `${sandbox.id} reaching ${hosts.join(' ')}`,
    run: (asked) => runBehind(hosts, sandbox, asked),
  };
}

async function runBehind(hosts: readonly string[], sandbox: Sandbox, asked: SandboxRequest) {
  await using folder = await openRolloutFolder();
  const socket = `${folder.path}/proxy.sock`;
  await using proxy = await startProxy(hosts, socket);
  const [program = '', ...args] = asked.command;
  const inside = { socket: `${INSIDE.sockets}/proxy.sock`, port: INSIDE.port, node: INSIDE.node };
  const forwarded = throughForwarder({ ...inside, program, args });
  const mounts = [
    { from: dirname(socket), to: INSIDE.sockets, isWritable: true },
    { from: process.execPath, to: INSIDE.node },
    { from: forwarderPath(), to: forwarderPath() },
  ];
  const result = await sandbox.run({
    ...asked,
    command: [forwarded.program, ...forwarded.args],
    mounts: [...mounts, ...(asked.mounts ?? [])],
    env: { ...proxyVariables(`http://127.0.0.1:${INSIDE.port}`), ...asked.env },
  });
  // The command never ran, so its exit code says nothing about the work.
  if (result.exitCode === CANNOT_LISTEN && !proxy.isReached()) throw new Error(result.stderr.trim());
  return result;
}

/** How the forwarder ends that could not open its port. */
const CANNOT_LISTEN = 71;

/** Programs read one or the other spelling. */
function proxyVariables(proxy: string): Record<string, string> {
  const names = { http_proxy: proxy, https_proxy: proxy, all_proxy: proxy, no_proxy: 'localhost,127.0.0.1' };
  const both = Object.entries(names).flatMap(([name, value]) => [
    [name, value],
    [name.toUpperCase(), value],
  ]);
  return { ...Object.fromEntries(both), NODE_USE_ENV_PROXY: '1' };
}

/** Passes on what is for one of the hosts: tunnels, as for https, and plain http. Keeps nothing. */
async function startProxy(hosts: readonly string[], socket: string) {
  let isReached = false;
  const open = new Set<Duplex>();
  const server = createServer((asked, answer) => passOn(asked, answer, hosts));
  server.on('connection', (near) => {
    isReached = true;
    open.add(near);
    near.once('close', () => open.delete(near));
  });
  server.on('connect', (asked: IncomingMessage, near: Duplex, head: Buffer) => tunnel(asked, { near, head, hosts }));
  await new Promise<void>((resolve, reject) => void server.once('error', reject).listen(socket, resolve));
  return {
    /** Whether the forwarder has greeted it. */
    isReached: () => isReached,
    async [Symbol.asyncDispose]() {
      for (const near of open) near.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

type Tunnel = { readonly near: Duplex; readonly head: Buffer; readonly hosts: readonly string[] };

function tunnel({ url = '' }: IncomingMessage, { near, head, hosts }: Tunnel): void {
  near.on('error', () => {});
  const to = placeOf(`tunnel://${url}`);
  if (to === undefined || !isAllowed(to, hosts)) return void near.end(`HTTP/1.1 403 Forbidden\r\n\r\n${refusal(url)}`);
  const far = connect(to.port, to.host, () => {
    near.write('HTTP/1.1 200 Connection established\r\n\r\n');
    far.write(head);
    near.pipe(far).pipe(near);
  });
  far.on('error', () => near.destroy());
  near.on('close', () => far.destroy());
}

function passOn(asked: IncomingMessage, answer: ServerResponse, hosts: readonly string[]): void {
  const { url = '', method, headers } = asked;
  const to = placeOf(url);
  if (to === undefined || !isAllowed(to, hosts)) return void answer.writeHead(403).end(refusal(url));
  const far = request(url, { method, headers }, (reply) => {
    answer.writeHead(reply.statusCode!, reply.headers);
    reply.pipe(answer);
  });
  far.on(
    'error',
    ({ message }) => void (answer.headersSent ? answer.destroy() : answer.writeHead(502).end(`${message}\n`)),
  );
  answer.on('close', () => far.destroy());
  asked.pipe(far);
}

type Place = { readonly host: string; readonly port: number };

function placeOf(url: string): Place | undefined {
  const { protocol, hostname, port } = URL.canParse(url) ? new URL(url) : ({} as Partial<URL>);
  if (!hostname || (protocol !== 'http:' && protocol !== 'tunnel:')) return undefined;
  return { host: hostname.toLowerCase().replace(/^\[|\]$/g, ''), port: Number(port || 80) };
}

const WEB_PORTS = [80, 443];

/** `pypi.org` on the ports of the web, `*.pypi.org` for all below it, `pypi.org:8080` on that port. */
const isAllowed = ({ host, port }: Place, hosts: readonly string[]) =>
  hosts.some((allowed) => {
    const [, name = '', own] = /^(.*?)(?::(\d+))?$/.exec(allowed.toLowerCase())!;
    const isHost = name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name;
    return isHost && (own === undefined ? WEB_PORTS.includes(port) : port === Number(own));
  });

const refusal = (url: string) => `${url} is not among the hosts that verifiers may reach (verifierHosts)\n`;
