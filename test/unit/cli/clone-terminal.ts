import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { COMMAND } from '../../support/compiled.ts';
import { isMissing } from '../../support/machine.ts';

const SCRIPT = '/usr/bin/script';

/** Whether a command can be given a terminal here. */
export const hasTerminal = !isMissing('script', process.platform === 'linux' && existsSync(SCRIPT));

export const KEYS = { enter: '\r', down: '\u001b[B', ctrlC: '\u0003', left: '\u001b[D', yes: 'y' } as const;

type Started = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size?: readonly [columns: number, rows: number];
};

/** What to wait for on the screen, and what to type then. */
export type Typed = readonly [seen: RegExp, ...keys: string[]];

/** Runs the command on a terminal of its own, where somebody types. Answers with the code and the screen. */
export function runOnTerminal(
  args: readonly string[],
  { cwd, env, size: [columns, rows] = [100, 40] }: Started,
  typed: readonly Typed[],
) {
  const words = [process.execPath, COMMAND, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const child = spawn(SCRIPT, ['-qefc', `stty cols ${columns} rows ${rows}; exec ${words.join(' ')}`, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH ?? '', TERM: 'xterm', NO_COLOR: '1', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: 90_000,
  });
  let [screen, read] = ['', 0];
  const left = [...typed];
  const typeNext = (): void => {
    const found = left[0]?.[0].exec(screen.slice(read));
    if (!found) return;
    read += found.index + found[0].length;
    const [, ...keys] = left.shift()!;
    for (const key of keys) child.stdin.write(key);
    typeNext();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    typeNext();
  });
  return new Promise<{ code: number | null; screen: string; untyped: number }>((done) => {
    child.on('close', (code) => done({ code, screen, untyped: left.length }));
  });
}
