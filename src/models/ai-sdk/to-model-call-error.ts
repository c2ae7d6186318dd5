import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import { CREDIT_HINT, isOutOfCredit, ModelCallError, noUsage } from '../../core/contracts/index.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { type FailedCall, providerWords, type SdkError } from './provider-words.ts';
import { noteRateLimit, retryAfterMs } from './rate-limit-headers.ts';
import {
  FormatRefused,
  isFormatRefusal,
  isPromptTooLong,
  LimitRefused,
  promptTooLong,
  wantedLimitName,
} from './refusals.ts';

/** What the SDK throws over a reply that lacks its parts. */
const MANGLED = /^AI_(InvalidResponseData|NoContentGenerated|EmptyResponseBody|JSONParse)Error$/;

/** What it throws before anything is sent. */
const UNASKED =
  /^AI_(LoadAPIKey|LoadSetting|InvalidArgument|InvalidPrompt|NoSuchModel|TypeValidation|UnsupportedFunctionality)Error$/;

/**
 * What the SDK or the connection threw, as a `ModelCallError` that says which model failed, how, and what to do about it.
 * Holds neither secrets nor the prompt, so the error it is made from is not its cause.
 */
export function toModelCallError(error: unknown, call: FailedCall, sent: LanguageModelV3CallOptions): ModelCallError {
  if (error instanceof ModelCallError) return error;
  const thrown = withShortBody((error ?? {}) as SdkError);
  const { name = '', statusCode: status } = thrown;
  if (status !== undefined && status >= 300) {
    return noteRateLimit(refusedCall(thrown, status, call, sent), thrown.responseHeaders);
  }
  if (status !== undefined || MANGLED.test(name)) return unreadableReply(thrown, call);
  if (UNASKED.test(name)) return unaskedCall(thrown, call);
  return brokenConnection(thrown, call);
}

/** More than any refusal needs. Some servers send the prompt back, and every pattern below would go through it. */
const MAX_BODY_LENGTH = 64_000;

function withShortBody(thrown: SdkError): SdkError {
  const { name, message, code, cause, statusCode, responseHeaders, responseBody, isRetryable } = thrown;
  if (responseBody === undefined || responseBody.length <= MAX_BODY_LENGTH) return thrown;
  const body = responseBody.slice(0, MAX_BODY_LENGTH);
  return { name, message, code, cause, statusCode, responseHeaders, responseBody: body, isRetryable } as SdkError;
}

function unaskedCall(thrown: SdkError, call: FailedCall): ModelCallError {
  const words = providerWords(thrown.message ?? '', call.secrets);
  return new ModelCallError(`${call.who} could not be asked: ${words}`, { isRetryable: false, isFatal: true });
}

function refusedCall(
  thrown: SdkError,
  status: number,
  call: FailedCall,
  sent: LanguageModelV3CallOptions,
): ModelCallError {
  if (isUnpaid(thrown, status)) return unpaidCall(thrown, status, call);
  if (isPromptTooLong(thrown, status)) return promptTooLong(thrown, status, call, sent);
  if (sent.responseFormat && isFormatRefusal(thrown, status)) return new FormatRefused(thrown, status, call);
  const limitName = wantedLimitName(thrown, status);
  if (limitName && call.endpoint) return new LimitRefused(thrown, status, limitName, call);
  const words = providerWords(thrown.responseBody || thrown.message || '', call.secrets);
  return new ModelCallError(`${call.who} answered ${status}${words && `: ${words}`}`, {
    status,
    retryAfterMs: retryAfterMs(thrown.responseHeaders),
    ...refusalHint(status, call),
  });
}

/** A reply that came broken may speak of money too, so under a status of success only what says that it is an error counts. */
function isUnpaid({ responseBody = '' }: SdkError, status: number): boolean {
  const beginning = responseBody.slice(0, 4_000);
  if (status === 200) return /^\s*\{\s*"(?:error|base_resp)"/.test(beginning) && isOutOfCredit(beginning);
  return status === 402 || ([400, 403, 429].includes(status) && isOutOfCredit(beginning));
}

function unpaidCall(thrown: SdkError, status: number, call: FailedCall): ModelCallError {
  const words = providerWords(thrown.responseBody || thrown.message || '', call.secrets);
  const details = { status, isRetryable: false, isFatal: true, hint: CREDIT_HINT };
  return new ModelCallError(`${call.who} answered ${status}${words && `: ${words}`}`, details);
}

function refusalHint(status: number, call: FailedCall): { hint?: string } {
  const { endpoint, path = '', apiKeyVariable: variable } = call;
  const host = endpoint?.name.split('/')[0] ?? 'this provider';
  if (status < 400) return { hint: 'The server sends calls elsewhere. Use the address it redirects to as base URL.' };
  const holder =
    variable === undefined ? 'the variable that holds the API key' : `${variable}, which holds the API key`;
  if (status === 401 || status === 403) return { hint: `Check ${holder} for ${host}.` };
  if (status === 404 && path === '') return { hint: 'Check the name of the model.' };
  if (status === 404) return { hint: `Check the model name, and the base URL: ${path} is added to it.` };
  return {};
}

/** A status of success with a body that is no chat completion. Gateways do this while a server restarts. */
function unreadableReply(thrown: SdkError, call: FailedCall): ModelCallError {
  if (isUnpaid(thrown, thrown.statusCode ?? 200)) return unpaidCall(thrown, thrown.statusCode ?? 200, call);
  const words = providerWords(thrown.responseBody ?? '', call.secrets);
  const what = isEmpty(thrown) ? 'an empty reply' : `no readable chat completion${words && `: ${words}`}`;
  const details = { status: thrown.statusCode ?? 200, isRetryable: true, ...unreadableHint(thrown, call) };
  return new ModelCallError(`${call.who} sent ${what}`, details);
}

function isEmpty({ name = '', statusCode, responseBody = '' }: SdkError): boolean {
  return name === 'AI_EmptyResponseBodyError' || (statusCode !== undefined && responseBody.trim() === '');
}

/** A page may also be that of a proxy on the way. */
function unreadableHint(thrown: SdkError, { endpoint }: FailedCall): { hint?: string } {
  if (isEmpty(thrown)) return { hint: 'The reply was empty: check the base URL, and any proxy on the way.' };
  if (!/^\s*</.test(thrown.responseBody ?? '')) return {};
  return { hint: `${endpoint?.baseURL ?? 'The address'} answered with a web page, not as an API: check the base URL.` };
}

/** Codes of connections that were there before. */
const BREAK = /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/;
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_/;
const NOT_SECURE = /EPROTO|ERR_SSL/;
const UNSENDABLE = /ERR_INVALID|ERR_UNESCAPED|UND_ERR_INVALID_ARG/;

/** Codes of connections that never were: nothing was sent, so nothing is billed. */
const NO_CONNECTION = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

/** Failures that another try would meet again. */
const LASTING = [UNTRUSTED, NOT_SECURE, UNSENDABLE];

/** The error for a call that got no answer, or only a part of one. */
function brokenConnection(thrown: SdkError, call: FailedCall): ModelCallError {
  const { code, message } = findFault(thrown);
  const words = message.includes(code) ? message : `${message} (${code})`;
  const event = BREAK.test(code) ? 'broke off the connection' : 'could not be reached';
  return new ModelCallError(`${call.who} ${event}: ${providerWords(words, call.secrets)}`, {
    isRetryable: code === '' ? thrown.isRetryable === true : !LASTING.some((pattern) => pattern.test(code)),
    ...(NO_CONNECTION.test(code) || LASTING.some((pattern) => pattern.test(code)) ? { usage: noUsage } : {}),
    ...connectionHint(code, call.endpoint),
  });
}

/** The system's own name and words for what went wrong, which fetch and the SDK bury under causes. */
function findFault({ code, message = '', cause }: SdkError): { code: string; message: string } {
  const here = { code: typeof code === 'string' ? code : '', message };
  if (typeof cause !== 'object' || cause === null) return here;
  const deeper = findFault(cause);
  return deeper.code === '' && here.code !== '' ? here : deeper;
}

function connectionHint(code: string, endpoint: Endpoint | undefined): { hint?: string } {
  const { baseURL = 'its address', proxy } = endpoint ?? {};
  if (proxy !== undefined) return { hint: `The call went through the proxy ${hostOf(proxy)}. NO_PROXY exempts hosts.` };
  if (code === 'ECONNREFUSED') return { hint: `Is the server running at ${baseURL}?` };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return { hint: `Check the network, and the host in ${baseURL}.` };
  if (NOT_SECURE.test(code)) return { hint: 'Does the server speak https? If not, the base URL begins with http:' };
  if (UNTRUSTED.test(code)) return { hint: 'Name the file of your own certificate authority in NODE_EXTRA_CA_CERTS.' };
  return {};
}

function hostOf(proxy: string): string {
  return URL.canParse(proxy) ? new URL(proxy).host : 'that the environment names';
}
