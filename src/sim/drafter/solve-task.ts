import type { Draw } from '../draw.ts';
import type { Character } from '../optimizer/character.ts';
import type { OptimizerPrompt } from '../optimizer/read-prompt.ts';
import { readQuestion } from '../world/topics.ts';
import { houseStyle, writeAnswer } from './house-style.ts';

type Asked = Pick<OptimizerPrompt, 'skill' | 'question'>;

/** An answer by somebody who reads rules and examples alike, and is wrong now and then. */
export function solveTask({ skill, question }: Asked, { solveErrorRate }: Character, draw: Draw): string {
  const reading = readQuestion(question);
  const answer = reading ? writeAnswer(reading, houseStyle(skill).get(reading.topic), solveErrorRate, draw) : undefined;
  return `The examples tell us.\n<answer>${answer ?? 'I do not know'}</answer>`;
}
