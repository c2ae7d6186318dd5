import type { LanguageModelV3CallOptions, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { ChatMessage, ChatRequest } from '../../core/contracts/index.ts';
import { strictSchema } from './strict-schema.ts';

/** Whether a provider holds its model to the schema of a request. */
export type StructuredOutput = 'auto' | 'off';

/** What a model adds to every request. */
export type CallSettings = {
  /** For requests that name none. Without either, the provider's own default applies. */
  readonly temperature?: number | undefined;
  /** Sends the sample index as `seed`. */
  readonly sendSeed?: boolean | undefined;
  /**
   * `auto` sends the schema of requests that have one and whose schema can be sent, until the provider refuses it.
   * Default: `off`, and the prompt alone asks for JSON.
   */
  readonly structuredOutput?: StructuredOutput | undefined;
  /** What only this provider understands, by the provider's name in the AI SDK. */
  readonly providerOptions?: SharedV3ProviderOptions | undefined;
};

type ResponseFormat = NonNullable<LanguageModelV3CallOptions['responseFormat']>;

/** A request in the words of the AI SDK, with nothing in it that was not asked for. */
export function toCallOptions(
  settings: CallSettings,
  request: ChatRequest,
  responseFormat?: ResponseFormat,
): LanguageModelV3CallOptions {
  const { maxOutputTokens, temperature = settings.temperature, sampleIndex = 0, signal } = request;
  const { sendSeed, providerOptions } = settings;
  return {
    prompt: request.messages.map(toPromptMessage),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(sendSeed ? { seed: sampleIndex } : {}),
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(signal === undefined ? {} : { abortSignal: signal }),
  };
}

function toPromptMessage({ role, content }: ChatMessage): LanguageModelV3CallOptions['prompt'][number] {
  return role === 'system' ? { role, content } : { role, content: [{ type: 'text', text: content }] };
}

/** What holds a model to the schema of `request`, if it has one and that can be sent. */
export function toResponseFormat({ schema }: ChatRequest): ResponseFormat | undefined {
  const strict = schema && strictSchema(schema);
  return strict && { type: 'json', name: 'reply', schema: strict };
}
