import type { RolloutResult } from '../../core/contracts/index.ts';
import type { FailurePattern, RawPatch } from '../../core/document/index.ts';
import { isFailure } from './trajectory.ts';

/**
 * What the failures of a batch have in common: what analysts named, with the tasks that they named it for; and for tasks
 * that nobody named, the part of their reason before the first colon. Most frequent first.
 */
export function failurePatterns(results: readonly RolloutResult[], patches: readonly RawPatch[]): FailurePattern[] {
  const named = mergeByType(patches.flatMap((raw) => raw.failurePatterns ?? []));
  const covered = new Set(named.flatMap((pattern) => pattern.taskIds));
  const failures = results.filter((result) => !result.errored && isFailure(result) && !covered.has(result.id));
  const rest = mergeByType(
    failures.map(({ id, failReason }) => ({ type: kindOf(failReason), count: 1, taskIds: [id] })),
  );
  return [...named, ...rest].sort((a, b) => b.count - a.count);
}

const kindOf = (reason = '') => reason.split(':')[0]!.trim().slice(0, 80) || 'unknown';

function mergeByType(patterns: readonly FailurePattern[]): FailurePattern[] {
  const merged = new Map<string, FailurePattern>();
  for (const pattern of patterns) {
    const key = pattern.type.toLowerCase();
    const known = merged.get(key);
    const taskIds = [...new Set([...(known?.taskIds ?? []), ...pattern.taskIds])];
    merged.set(key, { ...pattern, ...known, taskIds, count: taskIds.length });
  }
  return [...merged.values()];
}
