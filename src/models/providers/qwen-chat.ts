import type { JSONObject } from '@ai-sdk/provider';
import type { ChatModel } from '../../core/contracts/index.ts';
import type { ChatOptions } from '../ai-sdk/endpoint-model.ts';
import type { ProviderEndpointOptions } from '../http/endpoint.ts';
import { compatibleModel } from './openai-compatible.ts';

export type QwenChatOptions = Omit<ChatOptions, 'temperature'> &
  ProviderEndpointOptions & {
    /** Default 0.7; `null` sends none. */
    readonly temperature?: number | null | undefined;
    /** Whether the model thinks before it answers. Default: as its server was started. */
    readonly thinkingMode?: 'server_default' | 'enabled' | 'disabled' | undefined;
  };

/**
 * A Qwen model behind vLLM, SGLang or the like, on this machine at port 8000 unless `baseURL` says otherwise. Draws at a
 * temperature of 0.7 unless told.
 */
export function qwenChat({ thinkingMode = 'server_default', ...options }: QwenChatOptions): ChatModel {
  const { baseURL = 'http://localhost:8000/v1', temperature = 0.7 } = options;
  return compatibleModel('qwen', {
    ...options,
    baseURL,
    temperature: temperature ?? undefined,
    extraBody: thinking(thinkingMode),
  });
}

function thinking(mode: NonNullable<QwenChatOptions['thinkingMode']>): JSONObject {
  return mode === 'server_default' ? {} : { chat_template_kwargs: { enable_thinking: mode === 'enabled' } };
}
