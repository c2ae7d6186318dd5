import type { Io } from './terminal/io.ts';

const EXIT_CODE_OF = { SIGINT: 130, SIGTERM: 143 } as const;
type StopSignal = keyof typeof EXIT_CODE_OF;

/** Somebody asked the process to stop. Not a failure: the work can go on later. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly hint = 'Nothing is lost: run the same command again, and it goes on where it stopped.';
  readonly exitCode: 130 | 143;

  constructor(signal: StopSignal) {
    super(signal === 'SIGINT' ? 'interrupted' : 'terminated');
    this.exitCode = EXIT_CODE_OF[signal];
  }
}

type Interruptible = { readonly io: Io; onStop(): void };

/** Runs `work` under a signal: the first Ctrl-C or SIGTERM aborts it, the second ends the process. */
export async function interruptible<T>(
  { io, onStop }: Interruptible,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stop = (name: StopSignal) => () => {
    if (controller.signal.aborted) return io.exit(EXIT_CODE_OF[name]);
    controller.abort(new Interrupted(name));
    onStop();
  };
  const listeners = { SIGINT: stop('SIGINT'), SIGTERM: stop('SIGTERM') };
  for (const [name, listener] of Object.entries(listeners)) io.on(name, listener);
  try {
    return await work(controller.signal);
  } finally {
    for (const [name, listener] of Object.entries(listeners)) io.off(name, listener);
  }
}

export const STOPPING = 'stopping after the calls in flight (≤ 10 s); press Ctrl-C again to quit now';
