import type { Draw } from './draw.ts';
import type { Habits } from './propose-changes.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import { readTrajectory } from './read-trajectory.ts';
import { drawRemark } from './remarks.ts';

/** The reply of a success analyst: what went well, seldom an edit, and then a remark that changes no answer. */
export function readSuccesses({ trajectories, limit }: OptimizerPrompt, { precision }: Habits, draw: Draw) {
  const topics = new Set(trajectories.flatMap((block) => readTrajectory(block)?.reading.topic.name ?? []));
  const remarks = draw('praise') < precision ? [] : [{ op: 'append', target: '', content: `- ${drawRemark(draw)}` }];
  return {
    batch_size: trajectories.length,
    success_patterns: [...topics].map((topic) => `The answers about ${topic} followed the house style.`),
    patch: { reasoning: 'What works is left alone.', edits: remarks.slice(0, limit) },
  };
}
