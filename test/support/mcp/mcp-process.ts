import { spawn } from 'node:child_process';
import { COMMAND } from '../compiled.ts';

type Options = {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A module that is run before the server. */
  readonly before?: string;
};

type Message = {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
};

/** `skillopt mcp` as an agent starts it: a process of its own, with nothing but the lines between them. */
export function startMcp({ cwd, env = {}, before }: Options) {
  const flags = before === undefined ? [] : [`--import=data:text/javascript,${encodeURIComponent(before)}`];
  const child = spawn(process.execPath, [...flags, COMMAND, 'mcp'], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, ...env },
    stdio: 'pipe',
  });
  let [stdout, stderr] = ['', ''];
  let look = () => {};
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
    look();
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
    look();
  });
  child.stdin.on('error', () => {}); // it may be over before all is written
  const ended = new Promise<{ readonly code: number | null; readonly signal: string | null }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  /** Resolves once it holds, and rejects when it throws or the process is over before. */
  const until = (isThere: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      look = () => {
        try {
          if (isThere()) resolve();
        } catch (error) {
          reject(error);
        }
      };
      look();
      void ended.then((end) => reject(new Error(`ended with ${JSON.stringify(end)}: ${stderr}`)));
    });
  const lines = () => stdout.split('\n').slice(0, -1);
  const send = (message: object) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let last = 0;
  return {
    child,
    ended,
    until,
    send,
    stdout: () => stdout,
    stderr: () => stderr,
    messages: () => lines().map((line) => JSON.parse(line) as Message),
    async request(method: string, params: object): Promise<Message> {
      const id = ++last;
      send({ id, method, params });
      const answer = () => lines().find((line) => JSON.parse(line).id === id);
      await until(() => answer() !== undefined);
      return JSON.parse(answer()!);
    },
    end: () => child.stdin.end(),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

export const INITIALIZE = {
  protocolVersion: '2025-11-25',
  clientInfo: { name: 'test', version: '1' },
  capabilities: {},
};
