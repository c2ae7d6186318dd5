import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';

/** How long a model of OpenAI reasons. Which of these it knows depends on the model. */
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** Which of OpenAI's two ways to ask: most models answer to both, some only to Responses. */
export type OpenAIApi = 'chat' | 'responses';

/** Names of models that Chat Completions does not serve. */
const RESPONSES_ONLY = /^gpt-5.*-codex|^codex-mini|^(?:gpt-\d|o\d).*-pro(?:-\d{4}-\d\d-\d\d)?$/i;

export const apiFor = (model: string): OpenAIApi => (RESPONSES_ONLY.test(model) ? 'responses' : 'chat');

/** The same for Responses: it has a limit of its own, and nothing of a call is kept by the provider. */
export function responsesSettings(reasoningEffort: ReasoningEffort | undefined) {
  return ({ seed: _, ...options }: LanguageModelV3CallOptions): LanguageModelV3CallOptions => {
    return { ...options, providerOptions: { openai: { ...reasoning(reasoningEffort), store: false } } };
  };
}

/** Puts what OpenAI and Azure want into a call. Their limit is `max_completion_tokens`, for every model they serve. */
export function openaiSettings(reasoningEffort: ReasoningEffort | undefined) {
  return ({ maxOutputTokens, ...options }: LanguageModelV3CallOptions): LanguageModelV3CallOptions => {
    const limit = maxOutputTokens === undefined ? {} : { maxCompletionTokens: maxOutputTokens };
    return { ...options, providerOptions: { openai: { ...reasoning(reasoningEffort), ...limit } } };
  };
}

/** A caller that asks for reasoning has a model that reasons. The SDK knows that only of names it has heard of. */
function reasoning(reasoningEffort: ReasoningEffort | undefined) {
  if (reasoningEffort === undefined) return {};
  return reasoningEffort === 'none' ? { reasoningEffort } : { reasoningEffort, forceReasoning: true };
}
