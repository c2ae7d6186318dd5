import { readdirSync, readFileSync } from 'node:fs';
import type { ResourceLimits } from '../../core/contracts/index.ts';
import { THREADS } from './open-groups.ts';

/**
 * Where no group keeps a number of processes, a flood of them would be faster than we look. The kernel keeps a number for
 * each user but root: what the user has now, and room for the rollout.
 */
export function mostThreads({ processes }: ResourceLimits): number | undefined {
  const user = process.getuid?.();
  if (processes === undefined || !user || process.platform !== 'linux') return undefined;
  return threadsOf(user) + processes * THREADS;
}

function threadsOf(user: number): number {
  const counts = readdirSync('/proc').map((name) => (/^\d+$/.test(name) ? threadsIn(`/proc/${name}/status`, user) : 0));
  return counts.reduce((sum, count) => sum + count, 0);
}

function threadsIn(statusFile: string, user: number): number {
  try {
    const status = readFileSync(statusFile, 'latin1');
    return new RegExp(`^Uid:\\t${user}\\t`, 'm').test(status) ? Number(/^Threads:\t(\d+)$/m.exec(status)?.[1] ?? 0) : 0;
  } catch {
    return 0; // it has ended
  }
}
