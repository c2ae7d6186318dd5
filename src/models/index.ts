export { remainingCalls } from './ai-sdk/rate-limit-headers.ts';
export { largerAmounts, noAmounts, subtractAmounts } from './budget/amounts.ts';
export { type Budget, type BudgetOptions, createBudget, type Held } from './budget/budget.ts';
export { LimitReached, ReserveShortage } from './budget/budget-exhausted.ts';
export { costUsd, PRICES, PRICES_DATE, type Price, priceOf } from './budget/prices.ts';
export type { Reservation } from './budget/reservation.ts';
export type { GatewayEnd } from './gateway/admission.ts';
export { forwarderPath, throughForwarder } from './gateway/forwarder.ts';
export { type ModelGateway, type ModelGatewayOptions, startModelGateway } from './gateway/start-model-gateway.ts';
export { type AnthropicChatOptions, anthropicChat } from './providers/anthropic-chat.ts';
export { type AzureChatOptions, azureChat } from './providers/azure-chat.ts';
export { type FromAiSdkOptions, fromAiSdk } from './providers/from-ai-sdk.ts';
export { type GoogleChatOptions, googleChat } from './providers/google-chat.ts';
export { type MiniMaxChatOptions, minimaxChat } from './providers/minimax-chat.ts';
export { type OpenAIChatOptions, openaiChat } from './providers/openai-chat.ts';
export { type OpenAICompatibleOptions, openaiCompatible } from './providers/openai-compatible.ts';
export { type QwenChatOptions, qwenChat } from './providers/qwen-chat.ts';
export {
  createLimiterPool,
  createRateLimiter,
  type LimiterPool,
  type RateLimiter,
  type RateLimiterOptions,
} from './rate-limit/rate-limiter.ts';
export { type ScriptedModel, type ScriptedReply, scripted } from './scripted.ts';
export { countMessages, countTokens } from './tokens/count-tokens.ts';
export { createMeter, type Meter } from './wrappers/meter.ts';
export { type WithBudgetOptions, withBudget } from './wrappers/with-budget.ts';
export { withCircuit } from './wrappers/with-circuit.ts';
export { withCountedUsage } from './wrappers/with-counted-usage.ts';
export { billFor, withMeter } from './wrappers/with-meter.ts';
export { type RateLimitOptions, withRateLimit } from './wrappers/with-rate-limit.ts';
export { keepBill, paidSince, type ReplyCacheOptions, withReplyCache } from './wrappers/with-reply-cache.ts';
export { type Retry, type RetryOptions, withRetry } from './wrappers/with-retry.ts';
export { withTimeLimit, withTimeout } from './wrappers/with-timeout.ts';
