import { createDraw, type Draw } from '../draw.ts';
import type { Experience } from './experience.ts';
import { type Habits, habitualMistakes, type Mistakes, randomMistakes } from './propose-changes.ts';

/** Everything that makes one simulated optimizer differ from another. */
export type Character = Habits & {
  readonly seed: number;
  readonly stubbornness: number;
  readonly metaGain: number;
  readonly slowGain: number;
  readonly draftErrorRate: number;
  readonly draftRepeatRate: number;
  readonly solveErrorRate: number;
};

/** The mistakes about a topic. A share `stubbornness` of the times they are habitual, and the same as before. */
export function mistakesFor(topic: string, { seed, stubbornness }: Character, draw: Draw): Mistakes {
  const drawForTopic: Draw = (label) => draw(`${topic}: ${label}`);
  if (stubbornness === 0 || drawForTopic('habit') >= stubbornness) return randomMistakes(drawForTopic);
  return habitualMistakes(createDraw(seed, ['habit', topic]));
}

/** Habits with a share `gain` of the remarks and of the harm gone. */
export function better(habits: Habits, gain: number, where = { remarks: true, harm: true }): Habits {
  const { precision, harmfulRate } = habits;
  return {
    ...habits,
    precision: where.remarks ? 1 - (1 - precision) * (1 - gain) : precision,
    harmfulRate: where.harm ? harmfulRate * (1 - gain) : harmfulRate,
  };
}

/** Habits after a warning: fewer mistakes of the kinds that the notes warn of. */
export function warned(habits: Habits, metaGain: number, { knowsRemarks, knowsReference }: Experience): Habits {
  return better(habits, metaGain, { remarks: knowsRemarks, harm: knowsReference });
}
