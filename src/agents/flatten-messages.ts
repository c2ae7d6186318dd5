import { type ChatMessage, OWN_CALL_SENTINEL } from '../core/contracts/index.ts';

/** A conversation as the two texts that a CLI takes. A single user message stays as it is; several turns become sections. */
export function flattenMessages(messages: readonly ChatMessage[]): { system: string; conversation: string } {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const turns = messages.filter(({ role }) => role !== 'system');
  const conversation = turns.length === 1 ? turns[0]!.content : turns.map(toSection).join('\n\n');
  return { system: system.join('\n\n'), conversation };
}

type Texts = { readonly system: string; readonly conversation: string };

/** Both texts in one, for a CLI that takes no system prompt. */
export function withSystemSection(texts: Texts): string {
  return texts.system === '' ? texts.conversation : inSections(texts);
}

/** Both texts in sections, even where there is one. The first tag marks that no person wrote this. */
export function inSections({ system, conversation }: Texts): string {
  const instructions = system === '' ? [] : [section('instructions', system)];
  const [first, ...others] = [...instructions, section('request', conversation)];
  return [first!.replace('>', ` ${OWN_CALL_SENTINEL}>`), ...others].join('\n\n');
}

const toSection = ({ role, content }: ChatMessage) => section(role, content);

const section = (name: string, content: string) => `<${name}>\n${content}\n</${name}>`;
