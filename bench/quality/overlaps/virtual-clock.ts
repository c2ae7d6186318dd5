import { setImmediate as turn } from 'node:timers/promises';

/** As many turns of the event loop without a new wait, and nothing else moves: a run in memory waits for calls alone. */
const QUIET_TURNS = 5;

export type VirtualClock = { sleep(seconds: number): Promise<void>; now(): number };

/** A clock that jumps to the end of the shortest wait as soon as all that runs is waiting. For runs in memory. */
export function createVirtualClock(): VirtualClock {
  const waiting: { readonly at: number; readonly wake: () => void }[] = [];
  let [now, added, isRunning] = [0, 0, false];
  const run = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      for (let seen = -1; seen !== added; ) {
        seen = added;
        for (let turns = 0; turns < QUIET_TURNS; turns++) await turn();
      }
      now = Math.min(...waiting.map(({ at }) => at));
      const due = waiting.findIndex(({ at }) => at === now);
      waiting.splice(due, 1)[0]!.wake();
    }
    isRunning = false;
  };
  return {
    now: () => now,
    sleep: (seconds) =>
      new Promise((wake) => {
        waiting.push({ at: now + seconds, wake });
        added++;
        if (!isRunning) void run();
      }),
  };
}
