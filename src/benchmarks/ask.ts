import type { ChatImage, ChatMessage, ChatReply, RolloutContext, RolloutOutput } from '../core/contracts/index.ts';
import { rstrip, strip } from '../core/text/index.ts';
import { cutNote } from '../envs/index.ts';

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

type Answered = {
  readonly question: string;
  readonly messages: readonly ChatMessage[];
  readonly reply: ChatReply;
  readonly score: { readonly hard: number; readonly soft: number };
  readonly predictedAnswer: string;
  readonly referenceText: string;
  /** For the reason of a miss: what is right, and what came. */
  readonly expected: string;
  readonly got: string;
};

/** The result of an attempt that asked the target once. */
export function answeredOnce({ messages, reply, score, expected, got, ...shown }: Answered): RolloutOutput {
  const { question, predictedAnswer, referenceText } = shown;
  return {
    ...score,
    nTurns: 1,
    question,
    predictedAnswer,
    referenceText,
    conversation: conversationOf(messages, reply),
    ...(score.hard === 1 ? {} : { failReason: `expected ${expected}, got ${got}${cutNote(reply)}` }),
  };
}

/** The right answers, as the reason of a miss names them. */
export const anyOf = (golds: readonly string[]): string => golds.map((gold) => JSON.stringify(gold)).join(' or ');
