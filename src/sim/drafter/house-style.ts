import type { Draw } from '../draw.ts';
import type { Character } from '../optimizer/character.ts';
import type { OptimizerPrompt } from '../optimizer/read-prompt.ts';
import { readRules } from '../world/read-rules.ts';
import { stylesInExamples } from '../world/skill-folder.ts';
import type { Reading, Topic, Variant } from '../world/topic.ts';
import { readQuestion, TOPICS } from '../world/topics.ts';

/** What a text says of how facts are written, by its rules and its worked examples. Topics that it is silent on are not in it. */
export function houseStyle(text: string): ReadonlyMap<Topic, Variant | undefined> {
  const ruled = [...readRules(text).values()].map(({ topic, variant }) => [topic, variant] as const);
  const known = new Map<Topic, Variant | undefined>([...stylesInExamples(text), ...ruled]);
  return new Map(TOPICS.filter((topic) => known.has(topic)).map((topic) => [topic, known.get(topic)]));
}

/** The fact in the style that is meant, or, in a share `errorRate`, in any other. */
export function writeAnswer(reading: Reading, meant: Variant | undefined, errorRate: number, draw: Draw): string {
  if (draw('slip') >= errorRate) return reading.answer(meant);
  const others = [undefined, ...reading.topic.variants].filter((style) => style !== meant);
  return reading.answer(others[Math.floor(draw('slip to') * others.length)]);
}

type Asked = Pick<OptimizerPrompt, 'skill' | 'question'>;

/** An answer by somebody who reads rules and examples alike, and is wrong now and then. */
export function solveTask({ skill, question }: Asked, { solveErrorRate }: Character, draw: Draw): string {
  const reading = readQuestion(question);
  const answer = reading ? writeAnswer(reading, houseStyle(skill).get(reading.topic), solveErrorRate, draw) : undefined;
  return `The examples tell us.\n<answer>${answer ?? 'I do not know'}</answer>`;
}
