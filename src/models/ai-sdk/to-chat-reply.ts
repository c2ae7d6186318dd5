import type { LanguageModelV2, LanguageModelV3GenerateResult } from '@ai-sdk/provider';
import { type ChatReply, type FinishReason, ModelCallError, type Usage } from '../../core/contracts/index.ts';
import type { FailedCall } from './failed-call.ts';

type ResultV2 = Awaited<ReturnType<LanguageModelV2['doGenerate']>>;

/** What a model of the AI SDK generates, in either version of its specification. */
export type GenerateResult = LanguageModelV3GenerateResult | ResultV2;

/** The text and what it cost. A reply without text is a failure of the call. */
export function toChatReply({ content, usage, finishReason }: GenerateResult, call: FailedCall): ChatReply {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const reason = toFinishReason(typeof finishReason === 'string' ? finishReason : finishReason.unified);
  if (text.trim() === '') throw withoutText(reason, call.who);
  return { text, usage: toUsage(usage), finishReason: reason };
}

function toUsage(usage: GenerateResult['usage']): Usage {
  const { inputTokens, outputTokens } = usage;
  if (typeof inputTokens !== 'object' || typeof outputTokens !== 'object') return toUsageV2(usage as ResultV2['usage']);
  return {
    input: inputTokens.total ?? 0,
    cached: inputTokens.cacheRead ?? 0,
    output: outputTokens.total ?? 0,
    reasoning: outputTokens.reasoning ?? 0,
  };
}

function toUsageV2({ inputTokens, cachedInputTokens, outputTokens, reasoningTokens }: ResultV2['usage']): Usage {
  return {
    input: inputTokens ?? 0,
    cached: cachedInputTokens ?? 0,
    output: outputTokens ?? 0,
    reasoning: reasoningTokens ?? 0,
  };
}

function toFinishReason(reason: string): FinishReason {
  return reason === 'stop' || reason === 'length' || reason === 'content-filter' ? reason : 'other';
}

function withoutText(reason: FinishReason, who: string): ModelCallError {
  if (reason === 'length') {
    return new ModelCallError(`${who}: the token limit cut the reply before any text came`, {
      isRetryable: false,
      hint: 'Raise the limit of output tokens: a model that reasons spends them on that first.',
    });
  }
  if (reason === 'content-filter') {
    return new ModelCallError(`${who}: a content filter withheld the reply`, { isRetryable: false });
  }
  const hint = 'The reply was empty: check the name of the model and its settings, or try another model.';
  return new ModelCallError(`${who} sent a reply without text`, { isRetryable: true, hint });
}
