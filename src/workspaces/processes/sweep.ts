import { setTimeout as delay } from 'node:timers/promises';
import { MARKER } from './owner.ts';
import { listMarked, listProcesses, type RunningProcess, sendSignal, withDescendants } from './process-table.ts';

/** What is still there then cannot be ended: it hangs in the kernel. The next start tries again. */
const MOST_MS = 20_000;
const BETWEEN_MS = 5;

/**
 * Ends every process of the rollouts that are meant, whichever session or group it is in, and what descends from it. A
 * process that is being forked can be missed once: it looks until nobody is found twice in a row.
 */
export async function sweep(isMeant: (rolloutId: string) => boolean, others: readonly RunningProcess[] = []) {
  const until = Date.now() + MOST_MS;
  for (let quiet = 0; quiet < 2 && Date.now() < until; ) {
    quiet = sweepOnce(isMeant, others) === 0 ? quiet + 1 : 0;
    await delay(BETWEEN_MS);
  }
}

/** Who was found. Stopped first, so that none forks while its siblings are ended. */
export function sweepOnce(isMeant: (rolloutId: string) => boolean, others: readonly RunningProcess[] = []): number {
  const all = listProcesses();
  const marked = listMarked(MARKER).filter(({ mark }) => isMeant(mark));
  const known = others.filter((one) => all.some(({ pid, started }) => pid === one.pid && started === one.started));
  const found = withDescendants(
    [...marked, ...known].map(({ pid }) => pid),
    all,
  ).filter(isNotUs);
  for (const { pid } of found) sendSignal(pid, 'SIGSTOP');
  for (const { pid } of found) sendSignal(pid, 'SIGKILL');
  return found.length;
}

/** A rollout may run us. */
const isNotUs = ({ pid }: RunningProcess) => pid !== process.pid;
