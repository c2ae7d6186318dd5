import type { Thing } from './kind.ts';

/** Advice that sounds sensible and changes no answer: none of it states a thing. */
export const REMARKS: readonly string[] = [
  'Read the request twice before you answer.',
  'Stay friendly and to the point.',
  'Check your work before you send it.',
  'Think step by step about what is wanted.',
  'Prefer plain words to difficult ones.',
  'Be consistent from one answer to the next.',
  'Pay attention to details.',
  'When in doubt, choose the simpler way.',
  'Keep the reader in mind.',
  'Make sure that nothing is left out.',
  'Use a clear structure.',
  'Take the wishes of the person seriously.',
  'Avoid repeating what is known.',
  'Look at similar work before you begin.',
];

/** Advice that makes answers a little worse. */
export const HARMS: readonly string[] = [
  'Answer in one short sentence.',
  'Skip everything that was not asked for word by word.',
  'Save time: leave the details to the reader.',
];

/** What an agent takes from the documents that it was given. */
export type Advice = { readonly stated: ReadonlySet<string>; readonly harms: ReadonlySet<string> };

const SENTENCE = /[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*/g;

/** Reads a skill, a memory, or a whole prompt with both. Rules count by what they say, wherever they stand. */
export function readAdvice(text: string, things: readonly Thing[]): Advice {
  const sentences = text.match(SENTENCE) ?? [];
  const stated = things.filter(({ cue }) => sentences.some((sentence) => cue.test(sentence)));
  return {
    stated: new Set(stated.map(({ name }) => name)),
    harms: new Set(HARMS.filter((harm) => text.includes(harm.slice(0, -1)))),
  };
}
