import { EventEmitter } from 'node:events';
import type { Io } from '../../src/cli/terminal/terminal.ts';

type CaptureOptions = {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly env?: Io['env'];
  readonly cwd?: string;
};

/** An `Io` that keeps what is written and the code that was exited with. */
export function captureIo({ isTTY = false, columns, env = {}, cwd = '/nowhere' }: CaptureOptions = {}) {
  const events = new EventEmitter();
  const written = { stdout: '', stderr: '' };
  const exits: number[] = [];
  const stream = (name: keyof typeof written) => ({ isTTY, columns, write: (text: string) => (written[name] += text) });
  const io: Io = {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env,
    cwd: () => cwd,
    on: (name, listener) => events.on(name, listener),
    off: (name, listener) => events.off(name, listener),
    exit: (code) => void exits.push(code),
  };
  return {
    ...io,
    exits,
    out: () => written.stdout,
    err: () => written.stderr,
    emit: (name: string) => events.emit(name),
    listeners: (name: string) => events.listenerCount(name),
  };
}
