/** Models that speak `ChatModel`, and what wraps them. Adding a line here is adding public API. */
export type { ChatMessage, ChatModel, ChatReply, ChatRequest, FinishReason, Usage } from '../core/model.ts';
export type { Amounts } from './amounts.ts';
export { type AnthropicChatOptions, anthropicChat } from './anthropic-chat.ts';
export { type AzureChatOptions, azureChat } from './azure-chat.ts';
export { type Budget, type BudgetOptions, createBudget, type Reservation } from './budget.ts';
export { countMessages, countTokens } from './count-tokens.ts';
export { type FromAiSdkOptions, fromAiSdk } from './from-ai-sdk.ts';
export { type GoogleChatOptions, googleChat } from './google-chat.ts';
export { createLimiterPool, type LimiterPool } from './limiter-pool.ts';
export { createMeter, type Meter } from './meter.ts';
export { type MiniMaxChatOptions, minimaxChat } from './minimax-chat.ts';
export { type OpenAIChatOptions, openaiChat } from './openai-chat.ts';
export { type OpenAICompatibleOptions, openaiCompatible } from './openai-compatible.ts';
export { costUsd, PRICES, PRICES_DATE, type Price, priceOf } from './prices.ts';
export { type QwenChatOptions, qwenChat } from './qwen-chat.ts';
export {
  type AcquireOptions,
  createRateLimiter,
  type RateLimitChange,
  type RateLimiter,
  type RateLimiterOptions,
  type Slot,
} from './rate-limiter.ts';
export { type ScriptedModel, type ScriptedReply, scripted } from './scripted.ts';
export { type WithBudgetOptions, withBudget } from './with-budget.ts';
export { withCircuit } from './with-circuit.ts';
export { withMeter } from './with-meter.ts';
export { type RateLimitOptions, type RemainingCalls, withRateLimit } from './with-rate-limit.ts';
export { type ReplyCacheOptions, withReplyCache } from './with-reply-cache.ts';
export { type Retry, type RetryOptions, withRetry } from './with-retry.ts';
export { withTimeout } from './with-timeout.ts';
