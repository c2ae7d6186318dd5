import type { ChatMessage } from '../core/model.ts';

/** Everything that one role said, joined by line breaks. */
export function textOf(messages: readonly ChatMessage[], role: ChatMessage['role']): string {
  return messages.flatMap((message) => (message.role === role ? [message.content] : [])).join('\n');
}
