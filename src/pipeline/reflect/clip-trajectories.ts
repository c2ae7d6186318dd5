import type { RolloutResult } from '../../core/contracts/index.ts';
import type { StageDeps } from '../stage-deps.ts';
import { isVeryLong, renderTrajectory } from './trajectory.ts';

type Clipped = { readonly texts: readonly string[]; readonly clippedCount: number };

/** What a fence and the note on what was left out take, in characters. */
const MARKS_LENGTH = 80;

/**
 * Trajectories that fit into `maxTokens` together. Short ones stay whole; what they leave is shared equally among the long
 * ones, which keep head and tail.
 */
export async function clipTrajectories(
  results: readonly RolloutResult[],
  maxTokens: number,
  { countTokens }: Pick<StageDeps, 'countTokens'>,
): Promise<Clipped> {
  const texts = results.map((result) => renderTrajectory(result));
  // A token is a byte at least: what surely fits is not counted, since the analysts wait for it.
  if (Buffer.byteLength(texts.join('')) <= maxTokens) return { texts, clippedCount: results.filter(isVeryLong).length };
  const sizes = await Promise.all(texts.map((text) => countTokens(text)));
  const share = fairShare(sizes, maxTokens);
  const clipped = texts.map((text, index) => {
    const size = sizes[index]!;
    const length = Math.floor((text.length * share) / size) - MARKS_LENGTH;
    return size <= share ? text : renderTrajectory(results[index]!, Math.max(0, length));
  });
  const isClipped = (size: number, index: number) => size > share || isVeryLong(results[index]!);
  return { texts: clipped, clippedCount: sizes.filter(isClipped).length };
}

/** The largest size that all can be cut to so that they fit together. */
function fairShare(sizes: readonly number[], room: number): number {
  const ascending = [...sizes].sort((a, b) => a - b);
  let left = Math.max(0, room);
  for (const [index, size] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}
