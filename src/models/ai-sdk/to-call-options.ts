import type { LanguageModelV3CallOptions, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { ChatMessage, ChatRequest } from '../../core/model.ts';

/** What a model adds to every request. */
export type CallSettings = {
  /** For requests that name none. Without either, the provider's own default applies. */
  readonly temperature?: number | undefined;
  /** Sends the sample index as `seed`. */
  readonly sendSeed?: boolean | undefined;
  /** What only this provider understands, by the provider's name in the AI SDK. */
  readonly providerOptions?: SharedV3ProviderOptions | undefined;
};

/** A request in the words of the AI SDK, with nothing in it that was not asked for. */
export function toCallOptions(settings: CallSettings, request: ChatRequest): LanguageModelV3CallOptions {
  const { maxOutputTokens, temperature = settings.temperature, sampleIndex = 0, signal } = request;
  const { sendSeed, providerOptions } = settings;
  return {
    prompt: request.messages.map(toPromptMessage),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(sendSeed ? { seed: sampleIndex } : {}),
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(signal === undefined ? {} : { abortSignal: signal }),
  };
}

function toPromptMessage({ role, content }: ChatMessage): LanguageModelV3CallOptions['prompt'][number] {
  return role === 'system' ? { role, content } : { role, content: [{ type: 'text', text: content }] };
}
