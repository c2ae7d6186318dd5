import { createDraw, type Draw } from '../draw.ts';
import { freshMind, type Habits, habitualMind, type Mind } from './propose-changes.ts';

/** Everything that makes one simulated optimizer differ from another. */
export type Character = Habits & {
  readonly seed: number;
  readonly stubbornness: number;
  readonly metaGain: number;
  readonly slowGain: number;
};

/** The mind with which a topic is thought about: now and then it is habit that thinks, and then it thinks the same again. */
export function mindFor(topic: string, { seed, stubbornness }: Character, draw: Draw): Mind {
  const drawForTopic: Draw = (label) => draw(`${topic}: ${label}`);
  if (stubbornness === 0 || drawForTopic('habit') >= stubbornness) return freshMind(drawForTopic);
  return habitualMind(createDraw(seed, ['habit', topic]));
}
