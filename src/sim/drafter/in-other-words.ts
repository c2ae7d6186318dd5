import type { Draw } from '../draw.ts';

/** What a question begins with: `Invoice 123456`. */
const SUBJECT = /^([A-Z]\w*(?: [a-z]+)?) (\d{6})/;

/** Ways to ask the same, from a word more to nearly as many as the question has. */
const REWORDINGS: readonly ((question: string) => string)[] = [
  (question) => `Please: ${question}`,
  (question) => `${question} Keep it short.`,
  (question) => `A colleague wants to know this about an entry in our files. ${question}`,
  (question) => `${question} Reply in the way in which we always write it, please.`,
  (question) => question.replace(SUBJECT, 'The $1 that is filed under the number $2'),
  (question) => `Look this up for me. ${question.replace(SUBJECT, 'Our $1 no. $2')} Thank you!`,
];

/** The same question about the same fact. */
export function inOtherWords(question: string, draw: Draw): string {
  return REWORDINGS[Math.floor(draw('words') * REWORDINGS.length)]!(question);
}
