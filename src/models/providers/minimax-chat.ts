import type { ChatModel } from '../../core/contracts/index.ts';
import type { ChatOptions } from '../ai-sdk/endpoint-model.ts';
import type { ProviderEndpointOptions } from '../http/endpoint.ts';
import { compatibleModel } from './openai-compatible.ts';
import { requireKey } from './require-key.ts';

export type MiniMaxChatOptions = ChatOptions &
  ProviderEndpointOptions & {
    /** Where the account is: api.minimax.io (`global`) or api.minimaxi.com (`cn`). */
    readonly region?: 'global' | 'cn' | undefined;
    /** Models of the M2 family always get `adaptive`: they know nothing else. Without it: the model's default. */
    readonly thinking?: 'adaptive' | 'disabled' | undefined;
  };

/** They think, or refuse the call. */
const ALWAYS_THINKS = /^(?:minimax-)?m2(?:[.-]|$)/i;

const REGIONS = { global: 'https://api.minimax.io/v1', cn: 'https://api.minimaxi.com/v1' };

/**
 * A model of MiniMax, drawn from at a temperature of 0.7 unless told. The key is `apiKey`, else the variable
 * `MINIMAX_API_KEY`; without one, throws `CONFIG_INVALID`.
 */
export function minimaxChat({ region = 'global', thinking, ...options }: MiniMaxChatOptions): ChatModel {
  const { baseURL = REGIONS[region], temperature = 0.7 } = options;
  const type = ALWAYS_THINKS.test(options.model) ? 'adaptive' : thinking;
  return compatibleModel('minimax', {
    ...options,
    baseURL,
    temperature,
    apiKey: requireKey(options.apiKey, { provider: 'minimaxChat', variables: ['MINIMAX_API_KEY'] }),
    maxTokensParameter: 'max_completion_tokens',
    // Thoughts apart from the text, which otherwise begins with them.
    extraBody: { reasoning_split: true, ...(type === undefined ? {} : { thinking: { type } }) },
  });
}
