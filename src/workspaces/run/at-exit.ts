/** What must be ended with this process. One listener for all: a listener each would look like a leak to Node. */
const waiting = new Set<() => void>();

/** Has `work` done when this process exits before it is disposed. `kill -9` leaves that to the next start. */
export function atExit(work: () => void): Disposable {
  if (waiting.size === 0) process.on('exit', doAll);
  waiting.add(work);
  return {
    [Symbol.dispose]() {
      waiting.delete(work);
      if (waiting.size === 0) process.off('exit', doAll);
    },
  };
}

function doAll(): void {
  for (const work of [...waiting].reverse()) {
    // the latest first: what works in a folder ends before the folder goes
    try {
      work();
    } catch {
      // the others have their turn
    }
  }
}
