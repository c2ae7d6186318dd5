import type { ChatImage, ChatMessage, ChatReply, RolloutContext } from '../core/contracts/index.ts';
import { rstrip, strip } from '../core/text/index.ts';

/** SkillOpt's benchmarks give a reply this much room, since models that reason spend it on that first. */
export const MOST_OUTPUT_TOKENS = 16_384;

type Asked = {
  /** Who answers, and how: the same for all items. */
  readonly rules: string;
  readonly question: string;
  readonly images?: readonly ChatImage[] | undefined;
};

/** The first messages to the target: rules and skill, which all items share, then the question. */
export function firstMessages(skill: string, { rules, question, images }: Asked): ChatMessage[] {
  const text = strip(skill);
  const system = text === '' ? rules : `${rules}\n\n# Skill\n\n${rstrip(skill)}`;
  return [
    { role: 'system', content: system },
    { role: 'user', content: question, ...(images === undefined ? {} : { images }) },
  ];
}

type Call = Pick<RolloutContext, 'target' | 'signal'> & { readonly maxOutputTokens: number };

export const ask = (messages: readonly ChatMessage[], { target, signal, maxOutputTokens }: Call): Promise<ChatReply> =>
  target.complete({ messages, stage: 'rollout', maxOutputTokens, signal });

/** What analysts read of the talk: without the rules that all items share, and without images. */
export const conversationOf = (messages: readonly ChatMessage[], ...replies: readonly ChatReply[]) => [
  ...messages.filter(({ role }) => role !== 'system').map(({ role, content }) => ({ role, content })),
  ...replies.map(({ text }) => ({ role: 'assistant' as const, content: text })),
];

/** Said with a miss, so that analysts do not blame the skill. */
export const cutNote = ({ finishReason }: Pick<ChatReply, 'finishReason'>): string =>
  finishReason === 'length' ? ' (the reply was cut at the token limit)' : '';
