import { jsonText } from '../../core/text/index.ts';
import { type Colors, colorsFor, wrap } from '../../report/index.ts';
import type { Io, SafeIo } from './io.ts';
import { safeIo } from './safe-io.ts';

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
  /** Commands of ours in a sentence, as this person types them here, or in `folder`: all that is said has them already. */
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
  /** A terminal breaks words at its edge; a file or a pipe gets whole lines. */
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
