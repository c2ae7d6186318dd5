import type { ChatMessage } from '../../core/model.ts';
import { rstrip } from '../../core/text/python-text.ts';
import type { QaItem } from './qa-item.ts';

/** Raised whenever the wording below or the reading of the reply changes, so that no older rollout is reused. */
export const QA_FORMAT_VERSION = 1;

const ANSWER_FORMAT =
  'End your reply with the final answer inside <answer></answer>, in as few words as it takes. ' +
  'Only what stands between these tags is graded.';

/** What the target reads. The part that all tasks share comes first, so that providers can cache it. */
export function qaMessages(skill: string, { context, question }: QaItem): [system: ChatMessage, user: ChatMessage] {
  const passage = context === undefined ? '' : `Context:\n${context}\n\n`;
  return [
    { role: 'system', content: `${rstrip(skill)}\n\n${ANSWER_FORMAT}`.trimStart() },
    { role: 'user', content: `${passage}Question: ${question}` },
  ];
}
