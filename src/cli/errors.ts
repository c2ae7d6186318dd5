import { type ErrorCode, SkillError } from '../core/contracts/index.ts';
import { inFlags } from './flags/in-flags.ts';
import type { Io, Terminal } from './terminal/terminal.ts';

/** The answer is given, and it is not a success. Ends a command when there is nothing more to say. */
export class Answered extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode = 2) {
    super('answered');
    this.exitCode = exitCode;
  }
}

/** A run that has reached a limit, with what it came to until then. */
export class StoppedRun extends SkillError {
  override readonly name = 'StoppedRun';
  readonly run: object;

  constructor(error: SkillError, run: object) {
    super(error.code, error.message, { cause: error, ...(error.hint === undefined ? {} : { hint: error.hint }) });
    this.run = run;
  }
}

const SIGNALS = {
  SIGHUP: { exitCode: 129, word: 'hung up', hurry: 'the terminal was closed' },
  SIGINT: { exitCode: 130, word: 'interrupted', hurry: 'press Ctrl-C again to quit now' },
  SIGTERM: { exitCode: 143, word: 'terminated', hurry: 'a second SIGTERM quits now' },
} as const;
type StopSignal = keyof typeof SIGNALS;

const RESUMES = 'Nothing is lost: run the same command again, and it resumes where it stopped.';
const REDOES =
  'Run the same command again, and it resumes where it stopped: only the attempts of the agent that were ended begin again.';
const FINISHES = 'stopping after the calls in flight (≤ 10 s)';
const ENDS = 'stopping: attempts of the agent are ended now, other calls in flight may take 10 s';
const NOT_KEPT = 'Nothing was kept (--no-cache): the same command begins again. Without --no-cache it resumes.';

/** Somebody asked the process to stop. Not a failure: the work can be resumed. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly hint: string;
  readonly exitCode: (typeof SIGNALS)[StopSignal]['exitCode'];

  constructor(signal: StopSignal, { isKept = true, hasAgent = false, hint }: Stopping = {}) {
    super(SIGNALS[signal].word);
    const resumed = hasAgent ? REDOES : RESUMES;
    this.hint = hint ?? (isKept ? resumed : NOT_KEPT);
    this.exitCode = SIGNALS[signal].exitCode;
  }
}

type Stopping = {
  /** Whether what was done so far need not be done again. */
  readonly isKept?: boolean;
  /** Whether an agent does the tasks: its attempts take too long to be waited for. */
  readonly hasAgent?: boolean;
  readonly hint?: string;
  /** What is waited for, in words. Default: calls in flight. */
  readonly ends?: string;
};

type Interruptible = Stopping & {
  readonly io: Io;
  onStop(what: string): void;
};

/** Runs `work` under a signal: the first Ctrl-C, SIGTERM or closed terminal aborts it, the second ends the process. */
export async function interruptible<T>(
  { io, onStop, ...stopping }: Interruptible,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stop = (name: StopSignal) => () => {
    if (controller.signal.aborted) return io.exit(SIGNALS[name].exitCode);
    controller.abort(new Interrupted(name, stopping));
    onStop(`${stopping.ends ?? (stopping.hasAgent ? ENDS : FINISHES)}; ${SIGNALS[name].hurry}`);
  };
  const listeners = { SIGHUP: stop('SIGHUP'), SIGINT: stop('SIGINT'), SIGTERM: stop('SIGTERM') };
  for (const [name, listener] of Object.entries(listeners)) io.on(name, listener);
  try {
    return await work(controller.signal);
  } finally {
    for (const [name, listener] of Object.entries(listeners)) io.off(name, listener);
  }
}

type Printing = { readonly done?: object; readonly mask?: Mask };

type Explained = { readonly code: string; readonly message: string; readonly hint?: string | undefined };

/** Says what went wrong and what to do: on stderr, and with `--json` as the one object on stdout too, beside what was `done`. */
export function printError(error: unknown, terminal: Terminal, { done = {}, mask = asItIs }: Printing = {}): void {
  const explained = mask(explain(error));
  const { code } = explained;
  const message = terminal.called(explained.message);
  const hint = explained.hint && terminal.called(explained.hint);
  const { red, dim } = terminal.errorColors;
  terminal.say(error instanceof Interrupted ? `stopped: ${message}` : `${red('error:')} ${message}`);
  if (hint !== undefined) terminal.say(`${dim('hint:')} ${hint}`);
  if (code === 'BUG' && terminal.io.env.SKILLOPT_DEBUG === '1') terminal.say(String((error as Error)?.stack ?? error));
  const run = error instanceof StoppedRun ? { run: error.run } : {};
  if (terminal.isJson) terminal.answer({ error: { code, message, hint }, ...run, ...done }, []);
}

type Mask = <Value>(value: Value) => Value;
const asItIs: Mask = (value) => value;

/** Hides the keys of this process: an error may quote a file, or the command of a verifier. Code that knows a key has loaded that room before. */
export const keyMask = (): Promise<Mask> =>
  import('../core/guard/index.ts').then(
    ({ maskKeysIn }) => maskKeysIn,
    () => asItIs, // files may be what is lacking
  );

function explain(error: unknown): Explained {
  if (error instanceof SkillError) return { code: error.code, ...inFlags(error) };
  if (error instanceof Interrupted) return { code: 'INTERRUPTED', message: error.message, hint: error.hint };
  const refused = systemErrorOf(error);
  if (refused !== undefined) return { code: 'SYSTEM', ...refused };
  const message = error instanceof Error ? error.message : String(error);
  const hint = 'Please report it. SKILLOPT_DEBUG=1 shows where it happened.';
  return { code: 'BUG', message: `this is a bug in skillopt: ${message}`, hint };
}

const FORBIDDEN =
  'Check whose it is and whether you may read and write there (ls -ld shows it), or use another folder.';

const HINTS: Readonly<Record<string, string>> = {
  EACCES: FORBIDDEN,
  EDQUOT: 'Make room on the disk, then run the same command again.',
  EMFILE: 'Allow more open files, for example with: ulimit -n 1024. Then run the same command again.',
  ENFILE: 'Close other programs, then run the same command again.',
  ENOSPC: 'Make room on the disk, then run the same command again.',
  ENOTDIR: 'A file stands where a folder was expected: move it away, or use another folder.',
  EPERM: FORBIDDEN,
  EROFS: FORBIDDEN,
};

/** What was asked of the operating system, in words. */
const DOING: Readonly<Record<string, string>> = {
  mkdir: 'make the folder',
  open: 'open',
  rename: 'move',
  rm: 'delete',
  rmdir: 'delete the folder',
  scandir: 'read the folder',
  unlink: 'delete',
};

/** What the operating system refused, if that is what is behind an error: nothing that a bug of ours would do. */
function systemErrorOf(error: unknown): { message: string; hint: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  if (isFromSystem(error))
    return { message: systemMessage(error), hint: HINTS[error.code] ?? 'Check that path, and try again.' };
  const { error: later, suppressed, cause } = error as Error & { error?: unknown; suppressed?: unknown };
  return systemErrorOf(suppressed) ?? systemErrorOf(later) ?? systemErrorOf(cause);
}

/** `cannot make the folder /a/runs: permission denied (EACCES)`. */
function systemMessage({ code, syscall = '', path, message }: NodeJS.ErrnoException): string {
  const reason = /^[A-Z0-9]+: (.*?), \w+/s.exec(message)?.[1];
  if (path === undefined || reason === undefined) return message;
  return `cannot ${DOING[syscall] ?? `use (${syscall})`} ${path}: ${reason} (${code})`;
}

function isFromSystem(error: Error): error is Error & { code: string } {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) && (typeof syscall === 'string' || code in HINTS);
}

export const EXIT_CODES = {
  0: 'done',
  1: 'done, and errors were found, or a check failed',
  2: 'user error, with a hint',
  3: 'budget exhausted',
  4: 'a model or environment failed, or nothing was measured',
  5: 'locked by another run',
  6: 'waiting for an answer',
  70: 'a bug in skillopt',
  129: 'hung up (the terminal was closed)',
  130: 'interrupted (Ctrl-C)',
  143: 'terminated',
} as const;
type ExitCode = keyof typeof EXIT_CODES;

const special: { readonly [code in ErrorCode]?: ExitCode } = {
  BUDGET_EXHAUSTED: 3,
  MODEL_CALL_FAILED: 4,
  ENV_FAILED: 4,
  PROMPT_TOO_LONG: 4,
  QUEUE_UNREACHABLE: 4,
  WORKER_MISMATCH: 4,
  RUN_LOCKED: 5,
  ANSWER_PENDING: 6,
};

/** An error thrown on purpose is for the user to fix, and so is what the operating system refuses; anything else is a bug. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Answered || error instanceof Interrupted) return error.exitCode;
  if (error instanceof SkillError) return special[error.code] ?? 2;
  return systemErrorOf(error) === undefined ? 70 : 2;
}

/** Where this program's own code is: `src` in a clone, `dist` in the package. */
const OURS = new URL('../', import.meta.url).href;

/**
 * What nobody has caught, as what it is. Code of a user that throws in a timer or an event listener reaches no rollout: then
 * the first line of the stack that is neither Node's nor a library's is not ours.
 */
export function lateError(error: unknown): unknown {
  if (error instanceof SkillError || error instanceof Interrupted) return error;
  if (!(error instanceof Error)) return thrownOutside(String(error), '', error); // we throw nothing else
  const [frame] = framesOf(error).filter(({ file }) => !isLibrary(file));
  if (!frame || frame.file.startsWith(OURS)) return error;
  return thrownOutside(error.message, ` (${frame.file.replace(/^file:\/\//, '')}:${frame.line})`, error);
}

const isLibrary = (file: string) => !file.startsWith(OURS) && file.includes('/node_modules/');

function framesOf({ stack = '' }: Error): { file: string; line: string }[] {
  return stack.split('\n').flatMap((text) => {
    const place = /:(\d+):\d+\)?$/.exec(text);
    if (place === null || !text.trimStart().startsWith('at ')) return [];
    const path = pathIn(text.slice(0, place.index));
    return path === undefined ? [] : [{ file: path, line: place[1]! }];
  });
}

/** `at name (file:///a/b.js` or `at async /a/b.js`, as an address of a file. */
function pathIn(frame: string): string | undefined {
  const opened = frame.lastIndexOf('(');
  const path = opened === -1 ? frame.trimStart().replace(/^at (?:async )?/, '') : frame.slice(opened + 1);
  if (path.startsWith('file://')) return path;
  return path.startsWith('/') ? `file://${path}` : undefined;
}

function thrownOutside(message: string, where: string, cause: unknown): SkillError {
  const hint =
    'Catch it there: what a timer or an event listener throws reaches no rollout. Then run the same command again: it continues.';
  const what = `the environment threw outside of rolloutOne${where}: ${message}`;
  return new SkillError('ENV_FAILED', what, { cause, hint });
}
