import type { Io } from './terminal/terminal.ts';

const EXIT_CODE_OF = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const WORD_OF = { SIGHUP: 'hung up', SIGINT: 'interrupted', SIGTERM: 'terminated' } as const;
const HURRY_OF = {
  SIGHUP: 'the terminal was closed',
  SIGINT: 'press Ctrl-C again to quit now',
  SIGTERM: 'a second SIGTERM quits now',
} as const;
type StopSignal = keyof typeof EXIT_CODE_OF;

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
  readonly exitCode: (typeof EXIT_CODE_OF)[StopSignal];

  constructor(
    signal: StopSignal,
    { isKept = true, hasAgent = false, hint = whatIsKept({ isKept, hasAgent }) }: Kept = {},
  ) {
    super(WORD_OF[signal]);
    this.hint = hint;
    this.exitCode = EXIT_CODE_OF[signal];
  }
}

function whatIsKept({ isKept, hasAgent }: Kept): string {
  if (!isKept) return NOT_KEPT;
  return hasAgent ? REDOES : RESUMES;
}

type Kept = {
  /** Whether what was done so far need not be done again. */
  readonly isKept?: boolean;
  /** Whether an agent does the tasks: its attempts take too long to be waited for. */
  readonly hasAgent?: boolean;
  readonly hint?: string;
};

type Interruptible = Kept & {
  readonly io: Io;
  onStop(what: string): void;
};

/** Runs `work` under a signal: the first Ctrl-C, SIGTERM or closed terminal aborts it, the second ends the process. */
export async function interruptible<T>(
  { io, onStop, ...kept }: Interruptible,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stop = (name: StopSignal) => () => {
    if (controller.signal.aborted) return io.exit(EXIT_CODE_OF[name]);
    controller.abort(new Interrupted(name, kept));
    onStop(`${kept.hasAgent ? ENDS : FINISHES}; ${HURRY_OF[name]}`);
  };
  const listeners = { SIGHUP: stop('SIGHUP'), SIGINT: stop('SIGINT'), SIGTERM: stop('SIGTERM') };
  for (const [name, listener] of Object.entries(listeners)) io.on(name, listener);
  try {
    return await work(controller.signal);
  } finally {
    for (const [name, listener] of Object.entries(listeners)) io.off(name, listener);
  }
}
