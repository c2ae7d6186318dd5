import { printable } from '../../core/text/index.ts';
import { COLOR_CODES, isColored } from '../../report/index.ts';
import type { Io, Output, SafeIo, SafeOutput } from './io.ts';

/** The one way out for text: whatever is written through it has been made printable. */
export function safeIo(io: Io): SafeIo {
  return {
    stdin: io.stdin,
    stdout: safeOutput(io.stdout, io.env),
    stderr: safeOutput(io.stderr, io.env),
    env: io.env,
    argv: io.argv,
    cwd: () => io.cwd(),
    on: (name, listener) => io.on(name, listener),
    off: (name, listener) => io.off(name, listener),
    exit: (code) => io.exit(code),
  };
}

function safeOutput(output: Output, env: Io['env']): SafeOutput {
  const keepsColors = isColored(output, env);
  const clean = (text: string) => {
    const parts = text.split(COLOR_CODES); // every second one is a code
    return parts.map((part, at) => (at % 2 === 0 ? printable(part) : keepsColors ? part : '')).join('');
  };
  const safe: SafeOutput = {
    get isTTY() {
      return output.isTTY;
    },
    get columns() {
      return output.columns;
    },
    get rows() {
      return output.rows;
    },
    write: (text) => (safe.writeAbove ? safe.writeAbove(text) : output.write(clean(text))),
    writeAfter: (codes, text) => output.write(codes + clean(text)),
  };
  return safe;
}
