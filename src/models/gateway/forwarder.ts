import { fileURLToPath } from 'node:url';

/** The file of the forwarder: plain JavaScript that needs nothing but Node, so that it runs inside a sandbox. */
export function forwarderPath(): string {
  return fileURLToPath(new URL('./forward.mjs', import.meta.url));
}

type Forwarded = {
  /** Where the gateway listens, as seen from inside. */
  readonly socket: string;
  /** What the program finds it at: http://127.0.0.1:port. */
  readonly port: number;
  readonly program: string;
  readonly args: readonly string[];
  /** By default the Node that runs this. */
  readonly node?: string | undefined;
};

/** The command that runs a program where there is no network, with the gateway's socket as a port on loopback. */
export function throughForwarder({ socket, port, program, args, node = process.execPath }: Forwarded) {
  return { program: node, args: [forwarderPath(), socket, String(port), '--', program, ...args] };
}
