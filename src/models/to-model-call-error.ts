import { ModelCallError } from '../core/errors.ts';
import { brokenConnection } from './broken-connection.ts';
import type { Endpoint } from './endpoint.ts';
import { describeCall, type FailedCall, type SdkError } from './failed-call.ts';
import { providerWords } from './provider-words.ts';
import { retryAfterMs } from './retry-after.ts';

/**
 * What the SDK or the connection threw, as a `ModelCallError` that says who failed, how, and what to do about it.
 * Holds neither secrets nor the prompt, so the error it is made from is not its cause.
 */
export function toModelCallError(error: unknown, call: FailedCall): ModelCallError {
  const thrown = (error ?? {}) as SdkError;
  const status = thrown.statusCode;
  if (status !== undefined && status >= 300) return refusedCall(thrown, status, call);
  if (status !== undefined || thrown.name === 'AI_InvalidResponseDataError') return unreadableReply(thrown, call);
  return brokenConnection(thrown, call);
}

function refusedCall(thrown: SdkError, status: number, call: FailedCall): ModelCallError {
  const words = providerWords(thrown.responseBody || thrown.message || '', call.endpoint.secrets);
  return new ModelCallError(`${describeCall(call)} answered ${status}${words && `: ${words}`}`, {
    status,
    retryAfterMs: retryAfterMs(thrown.responseHeaders),
    ...refusalHint(status, words, call.endpoint),
  });
}

function refusalHint(status: number, words: string, endpoint: Endpoint): { hint?: string } {
  const host = endpoint.name.split('/')[0];
  if (words.includes('max_completion_tokens')) return { hint: "Set maxTokensParameter to 'max_completion_tokens'." };
  if (status < 400) return { hint: 'The server sends calls elsewhere. Use the address it redirects to as base URL.' };
  if (status === 401 || status === 403) return { hint: `Check the variable that holds the API key for ${host}.` };
  if (status === 404) return { hint: 'Check the model name, and the base URL: /chat/completions is added to it.' };
  return {};
}

/** A status of success with a body that is no chat completion. Gateways do this while a server restarts. */
function unreadableReply(thrown: SdkError, call: FailedCall): ModelCallError {
  const words = providerWords(thrown.responseBody ?? '', call.endpoint.secrets);
  const message = `${describeCall(call)} sent no readable chat completion${words && `: ${words}`}`;
  return new ModelCallError(message, { status: thrown.statusCode ?? 200, isRetryable: true });
}
