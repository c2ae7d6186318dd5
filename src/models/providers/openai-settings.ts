import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';

/** How long a model of OpenAI reasons. Which of these it knows depends on the model. */
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** Puts what OpenAI and Azure want into a call. Their limit is `max_completion_tokens`, for every model they serve. */
export function openaiSettings(reasoningEffort: ReasoningEffort | undefined) {
  return ({ maxOutputTokens, ...options }: LanguageModelV3CallOptions): LanguageModelV3CallOptions => {
    const limit = maxOutputTokens === undefined ? {} : { maxCompletionTokens: maxOutputTokens };
    return { ...options, providerOptions: { openai: { ...reasoning(reasoningEffort), ...limit } } };
  };
}

/** Who asks for reasoning has a model that reasons. The SDK knows that only of names it has heard of. */
function reasoning(reasoningEffort: ReasoningEffort | undefined) {
  if (reasoningEffort === undefined) return {};
  return reasoningEffort === 'none' ? { reasoningEffort } : { reasoningEffort, forceReasoning: true };
}
