/** Models that speak `ChatModel`, and what wraps them. Adding a line here is adding public API. */
export type { ChatMessage, ChatModel, ChatReply, ChatRequest, FinishReason, Usage } from '../core/model.ts';
export { createMeter, type Meter } from './meter.ts';
export { type OpenAICompatibleOptions, openaiCompatible } from './openai-compatible.ts';
export { type ScriptedModel, type ScriptedReply, scripted } from './scripted.ts';
export { withCircuit } from './with-circuit.ts';
export { withMeter } from './with-meter.ts';
export { type ReplyCacheOptions, withReplyCache } from './with-reply-cache.ts';
export { type Retry, type RetryOptions, withRetry } from './with-retry.ts';
export { withTimeout } from './with-timeout.ts';
