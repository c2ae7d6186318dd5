import { spawn } from 'node:child_process';
import { COMMAND } from '../../support/compiled.ts';

type Started = {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A shell's line that starts the command as `"$0" "$@"`. */
  readonly shell?: string;
};

/** Starts the command as a process of its own, with a home that knows nobody. */
export function startClone(args: readonly string[], { cwd, env = {}, shell }: Started) {
  const { PATH = '' } = process.env;
  const line = [process.execPath, COMMAND, ...args];
  const [file, ...rest] = shell === undefined ? line : ['sh', '-c', shell, ...line];
  const child = spawn(file!, rest, {
    cwd,
    env: { PATH, HOME: cwd, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
    });
  }
  const finished = new Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>(
    (done) => {
      child.on('exit', (code, signal) => done({ code, signal, ...printed }));
    },
  );
  return { child, finished };
}
