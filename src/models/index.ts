export { remainingCalls } from './ai-sdk/rate-limit-headers.ts';
export { atOnce, whyFewer } from './budget/at-once.ts';
export {
  type Budget,
  type BudgetOptions,
  createBudget,
  type Held,
  type Reservation,
} from './budget/budget.ts';
export { LimitReached, ReserveShortage } from './budget/budget-exhausted.ts';
export { costUsd, PRICES, PRICES_DATE, type Price, type Prices, priceOf } from './budget/prices.ts';
export type { GatewayEnd } from './gateway/admission.ts';
export {
  forwarderPath,
  type ModelGateway,
  type ModelGatewayOptions,
  startModelGateway,
  throughForwarder,
} from './gateway/start-model-gateway.ts';
export { linkedSignal, onAbort, untilAborted } from './on-abort.ts';
export { type AnthropicChatOptions, anthropicChat } from './providers/anthropic-chat.ts';
export { type AzureChatOptions, azureChat } from './providers/azure-chat.ts';
export { type FromAiSdkOptions, fromAiSdk } from './providers/from-ai-sdk.ts';
export { type GoogleChatOptions, googleChat } from './providers/google-chat.ts';
export { type OpenAIChatOptions, openaiChat } from './providers/openai-chat.ts';
export {
  type MiniMaxChatOptions,
  minimaxChat,
  type OpenAICompatibleOptions,
  openaiCompatible,
  type QwenChatOptions,
  qwenChat,
} from './providers/openai-compatible.ts';
export {
  createLimiterPool,
  createRateLimiter,
  type LimiterPool,
  patienceFor,
  type RateLimiterOptions,
} from './rate-limit/rate-limiter.ts';
export { type ScriptedModel, type ScriptedReply, scripted } from './scripted.ts';
export { countMessages, countTokens } from './tokens/count-tokens.ts';
export { type WithBudgetOptions, withBudget } from './wrappers/with-budget.ts';
export { createMeter, type Meter, withCountedUsage, withMeter } from './wrappers/with-meter.ts';
export { type RateLimitOptions, withRateLimit } from './wrappers/with-rate-limit.ts';
export { type ReplyCacheOptions, withReplyCache } from './wrappers/with-reply-cache.ts';
export {
  type Retry,
  type RetryOptions,
  untilTimeIsOver,
  withCircuit,
  withRetry,
  withTimeLimit,
  withTimeout,
} from './wrappers/with-retry.ts';
