import type { Draw } from '../draw.ts';

/** Advice that sounds sensible and changes no answer: none of it states a house rule. */
export const REMARKS: readonly string[] = [
  'Read the question twice before you answer.',
  'Answer in as few words as the question allows.',
  'Look up the record before you write anything about it.',
  'Copy values with care and check every digit.',
  'When in doubt, stay close to the wording of the record.',
  'Leave out greetings and explanations.',
  'Be consistent: treat equal questions equally.',
  'Check the answer against the house style before you send it.',
];

export function drawRemark(draw: Draw): string {
  return REMARKS[Math.floor(draw('remark') * REMARKS.length)]!;
}
