import type { ChatMessage } from '../core/model.ts';

/**
 * A conversation as the two texts that a CLI can take. A single user message stays as it is; several turns follow each
 * other in sections that name their speaker.
 */
export function flattenMessages(messages: readonly ChatMessage[]): { system: string; conversation: string } {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const turns = messages.filter(({ role }) => role !== 'system');
  const conversation = turns.length === 1 ? turns[0]!.content : turns.map(toSection).join('\n\n');
  return { system: system.join('\n\n'), conversation };
}

/** Both texts in one, for a CLI that takes no system prompt. */
export function withSystemSection({ system, conversation }: { system: string; conversation: string }): string {
  return system === '' ? conversation : `${section('instructions', system)}\n\n${section('request', conversation)}`;
}

const toSection = ({ role, content }: ChatMessage) => section(role, content);

const section = (name: string, content: string) => `<${name}>\n${content}\n</${name}>`;
