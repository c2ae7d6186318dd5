import { ModelCallError } from '../core/errors.ts';
import type { Endpoint } from './endpoint.ts';
import { maskSecrets, providerWords } from './provider-words.ts';
import { retryAfterMs } from './retry-after.ts';

/** The parts of the SDK's errors that are looked at. The request, with the whole prompt in it, is not one of them. */
type SdkError = {
  readonly name?: string;
  readonly message?: string;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly statusCode?: number;
  readonly responseHeaders?: Record<string, string>;
  readonly responseBody?: string;
  readonly isRetryable?: boolean;
};

export type FailedCall = { readonly model: string; readonly endpoint: Endpoint };

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

/** How messages name the far side. */
export function describeCall({ model, endpoint }: FailedCall): string {
  return `${model} at ${endpoint.name}`;
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

function brokenConnection(thrown: SdkError, call: FailedCall): ModelCallError {
  const code = findCode(thrown);
  const words = code ?? maskSecrets(thrown.message ?? '', call.endpoint.secrets);
  const event = BREAKS.test(words) ? 'broke off the connection' : 'could not be reached';
  return new ModelCallError(`${describeCall(call)} ${event}: ${words}`, {
    isRetryable: code === undefined ? thrown.isRetryable === true : !LASTING.test(code),
    ...connectionHint(code, call.endpoint),
  });
}

const BREAKS = /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/;

/** Failures that another try would meet again: certificates, and requests that cannot be written. */
const LASTING = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO|ERR_INVALID|ERR_UNESCAPED|UND_ERR_INVALID_ARG/;

function connectionHint(code: string | undefined, { baseURL, proxy }: Endpoint): { hint?: string } {
  if (proxy !== undefined) return { hint: `The call went through the proxy ${hostOf(proxy)}. NO_PROXY exempts hosts.` };
  if (code === 'ECONNREFUSED') return { hint: `Is the server running at ${baseURL}?` };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return { hint: `Check the network, and the host in ${baseURL}.` };
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO_/.test(code)) {
    return { hint: 'If the certificate is from your own authority, name its file in NODE_EXTRA_CA_CERTS.' };
  }
  return {};
}

function hostOf(proxy: string): string {
  return URL.canParse(proxy) ? new URL(proxy).host : 'that the environment names';
}

/** The system's name for what went wrong, which the SDK and fetch bury under causes. */
function findCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, cause } = error as SdkError;
  return findCode(cause) ?? (typeof code === 'string' ? code : undefined);
}
