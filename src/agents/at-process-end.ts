const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

const pending = new Set<() => void>();

/**
 * Has `cleanup` done when this process ends before it is disposed: by an exit, or by a signal with no other listener.
 * The last one asked for is done first. Only `kill -9` leaves things behind.
 */
export function atProcessEnd(cleanup: () => void): Disposable {
  if (pending.size === 0) listen();
  pending.add(cleanup);
  return {
    [Symbol.dispose]() {
      pending.delete(cleanup);
      if (pending.size === 0) stopListening();
    },
  };
}

function listen(): void {
  process.on('exit', cleanUp);
  for (const signal of SIGNALS) process.on(signal, endBy);
}

function stopListening(): void {
  process.off('exit', cleanUp);
  for (const signal of SIGNALS) process.off(signal, endBy);
}

/** Other listeners decide what a signal means. Without any, it does what it would have done without us. */
function endBy(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  cleanUp();
  stopListening();
  process.kill(process.pid, signal);
}

function cleanUp(): void {
  for (const cleanup of [...pending].reverse()) {
    try {
      cleanup();
    } catch {
      // the others have their turn
    }
  }
}
