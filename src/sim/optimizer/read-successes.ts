import type { Draw } from '../draw.ts';
import { append } from './change.ts';
import type { Character } from './character.ts';
import { warned } from './character.ts';
import { readExperience } from './experience.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import { readTrajectory } from './read-trajectory.ts';
import { drawRemark } from './remarks.ts';
import { inMode } from './whole-version.ts';

/** The reply of a success analyst: what went well, seldom an edit, and then a remark that changes no answer. */
export function readSuccesses(prompt: OptimizerPrompt, character: Character, draw: Draw): object {
  const { trajectories, limit, mode, skill } = prompt;
  const experience = readExperience(prompt);
  const { precision } = warned(character, character.metaGain, experience);
  const topics = new Set(trajectories.flatMap((block) => readTrajectory(block)?.reading.topic.name ?? []));
  const remark = drawRemark(draw);
  const isSilent = draw('praise') < precision || experience.tried.has(remark);
  const changes = isSilent ? [] : [append(remark)];
  return {
    batch_size: trajectories.length,
    success_patterns: [...topics].map((topic) => `The answers about ${topic} followed the house style.`),
    patch: { reasoning: 'What works is left alone.', ...inMode(mode, skill, changes.slice(0, limit)) },
    ...(prompt.wantsReminders ? { appendix_notes: [] } : {}),
  };
}
