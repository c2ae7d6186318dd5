import { jsonText, printable } from '../../core/text/index.ts';
import { COLOR_CODES, type Colors, colorsFor, isColored, wrap } from '../../report/index.ts';

/** What a command speaks through: results on stdout, everything else on stderr. */
export type Terminal = {
  readonly io: SafeIo;
  readonly isJson: boolean;
  /** Whether a person sits there who can be asked. */
  readonly canAsk: boolean;
  /** Columns to fill; 80 where nobody knows. */
  readonly width: number;
  /** The same for text that a person may search or copy: a file or a pipe gets whole lines. */
  readonly lineWidth: number;
  readonly colors: Colors;
  readonly errorColors: Colors;
  /** A text whose commands read as this person types them, here or in `folder`. `say`, `warn` and `note` do it by themselves. */
  called(text: string, folder?: string): string;
  say(line: string): void;
  warn(message: string): void;
  note(message: string): void;
  /** The one result: an object for machines with `--json`, lines for people without. */
  answer(value: object, lines: readonly string[]): void;
};

const WIDEST = 120;
const asWritten = (text: string) => text;

type Opening = { readonly isJson?: boolean; readonly called?: Terminal['called'] };

export function openTerminal(outside: Io, { isJson = false, called = asWritten }: Opening = {}): Terminal {
  const io = safeIo(outside);
  const answer = (value: object, lines: readonly string[]) =>
    io.stdout.write(isJson ? `${jsonText(value)}\n` : lines.map((line) => `${line}\n`).join(''));
  const errorColors = colorsFor(io.stderr, io.env);
  const inColumns = (text: string, columns = io.stderr.columns) =>
    columns === undefined ? [text] : text.split('\n').flatMap((line) => wrap(line, Math.min(columns, WIDEST)));
  const say = (line: string) => void io.stderr.write(`${inColumns(called(line)).join('\n')}\n`);
  return {
    io,
    isJson,
    canAsk: !isJson && !io.env.CI && io.stdin?.isTTY === true && io.stderr.isTTY === true,
    get width() {
      return Math.min(io.stdout.columns ?? 80, WIDEST);
    },
    get lineWidth() {
      return io.stdout.columns === undefined ? Number.MAX_SAFE_INTEGER : Math.min(io.stdout.columns, WIDEST);
    },
    colors: colorsFor(io.stdout, io.env),
    errorColors,
    called,
    say,
    warn: (message) => say(`${errorColors.yellow('warning:')} ${message}`),
    note: (message) => say(`${errorColors.dim('note:')} ${message}`),
    answer: (value, lines) => void answer(value, lines),
  };
}

/** The one way out for text: whatever is written through it has been made printable. */
function safeIo(io: Io): SafeIo {
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
      return output.columns || undefined; // a terminal that does not know its size says 0
    },
    get rows() {
      return output.rows || undefined;
    },
    write: (text) => (safe.writeAbove ? safe.writeAbove(text) : output.write(clean(text))),
    writeAfter: (codes, text) => output.write(codes + clean(text)),
  };
  return safe;
}

type Output = {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
};

/** A stream through which nothing foreign commands the terminal: every text is made printable, and keeps our colours. */
type SafeOutput = Output & {
  /** Writes codes of ours that move the cursor, then a text. */
  writeAfter(codes: string, text: string): unknown;
  /** Set while lines at the foot of the terminal are redrawn in place: all other text goes above them. */
  writeAbove?: ((text: string) => unknown) | undefined;
};

/** Everything the command line touches outside its files. `process` is one. */
export type Io = {
  readonly stdin?: { readonly isTTY?: boolean | undefined } | undefined;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How the process was started: Node, the file, its arguments. */
  readonly argv?: readonly string[] | undefined;
  cwd(): string;
  on(name: string, listener: () => void): unknown;
  off(name: string, listener: () => void): unknown;
  exit(code: number): void;
};

export type SafeIo = Io & { readonly stdout: SafeOutput; readonly stderr: SafeOutput };
